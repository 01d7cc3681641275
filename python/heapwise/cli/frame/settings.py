"""``heapwise.toml`` < ``HEAPWISE_*`` < flags: defaults for the options of the verbs.

The keys are the long options with ``_`` for ``-``; at the top level they hold for every verb that
has the option, in a table named like a verb for that verb alone.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Any

from heapwise.errors import Problem

FILE_NAME = "heapwise.toml"
NOT_SETTINGS = {"help", "debug", "program", "version"}
OTHER_VARIABLES = {"HEAPWISE_STORE", "HEAPWISE_NATIVE", "HEAPWISE_PEERS", "HEAPWISE_PAD"}

Defaults = dict[str, dict[str, Any]]


def defaults(command: Any) -> Defaults:
    """What click takes as ``default_map``. Problem E003 for a key that no verb has."""
    known = {
        name: {parameter.name for parameter in verb.params} - NOT_SETTINGS
        for name, verb in command.commands.items()
    }
    result: Defaults = {verb: {} for verb in known}
    _apply_file(result, known)
    _apply_environment(result, known)
    return result


def find_file(start: Path | None = None) -> Path | None:
    here = start or Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    return None


def _apply_file(result: Defaults, known: dict[str, set[str]]) -> None:
    path = find_file()
    if path is None:
        return
    try:
        document = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Problem("E003", f"{path} cannot be read: {error}") from error
    for key, value in document.items():
        if isinstance(value, dict):
            _check(key, set(known), f"table in {path}")
            for option, setting in value.items():
                _check(option, known[key], f"key in [{key}] of {path}")
                result[key][option] = setting
    for key, value in document.items():
        if not isinstance(value, dict):
            _check(key, set().union(*known.values()), f"key in {path}")
            _everywhere(result, known, key, value, override=False)


def _apply_environment(result: Defaults, known: dict[str, set[str]]) -> None:
    every = set().union(*known.values())
    for variable, value in os.environ.items():
        option = variable.removeprefix("HEAPWISE_").lower()
        if variable in OTHER_VARIABLES or not variable.startswith("HEAPWISE_"):
            continue
        if option in every:
            _everywhere(result, known, option, value, override=True)


def _everywhere(
    result: Defaults, known: dict[str, set[str]], option: str, value: Any, *, override: bool
) -> None:
    for verb, options in known.items():
        if option in options and (override or option not in result[verb]):
            result[verb][option] = value


def _check(word: str, allowed: set[str], what: str) -> None:
    if word in allowed:
        return
    near = difflib.get_close_matches(word, sorted(allowed), n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise Problem(
        "E003", f"unknown {what}: '{word}'{hint}", do="the keys are the long options: see --help"
    )
