"""``heapwise.toml`` < ``HEAPWISE_*`` < flags: defaults for the options of the verbs.

The keys are the long options with ``_`` for ``-``; at the top level they hold for every verb that
has the option, in a table named like a verb for that verb alone.
"""

from __future__ import annotations

import os
import shlex
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

from heapwise.cli.frame.tell import console
from heapwise.errors import Problem
from heapwise.wording.suggest import did_you_mean

FILE_NAME = "heapwise.toml"
NOT_SETTINGS = {"help", "debug", "version"}
TYPED_ONLY = {"gate": {"baseline", "save_baseline"}}
"""Verb -> keys that are not settings. The baseline of other verbs is an allocator, not a file."""

OTHER_VARIABLES = {
    "HEAPWISE_STORE",
    "HEAPWISE_NATIVE",
    "HEAPWISE_PEERS",
    "HEAPWISE_TREES",
    "HEAPWISE_PAD",
    "HEAPWISE_PROGRAMS",
    "HEAPWISE_RECIPES",
    "HEAPWISE_PUBLISHED",
    "HEAPWISE_FLEET_ORIGIN",
    "HEAPWISE_FLEET_FOLDER",
    "HEAPWISE_FLEET_LOCK",
    "HEAPWISE_MACHINE",
    "HEAPWISE_CALIBRATION",
}
OF_LIBRARIES = ("HEAPWISE_MALLOC_", "HEAPWISE_GC_")
"""Variables that begin like this are options of a library. The verbs do not read them."""

LISTS = ("A,B", "LIST")
"""The metavars of options that take several values with commas between them."""

NEEDS = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}

Defaults = dict[str, dict[str, Any]]
KnownOptions = dict[str, dict[str, Any]]
"""Verb -> key -> what typer knows of the option."""


def defaults(command: Any, verb: str = "") -> Defaults:
    """What click takes as ``default_map``; says which options of ``verb`` come from a file.

    Problems: E003 for a key that no verb has, E005 for a file that another user can change.
    """
    known = {name: _options(name, verb) for name, verb in command.commands.items()}
    result: Defaults = {verb: {} for verb in known}
    path = find_file()
    if path is not None:
        _apply_file(path, result, known)
        for chosen in result.values():
            for key in [key for key in chosen if os.environ.get(f"HEAPWISE_{key.upper()}")]:
                del chosen[key]  # also if something else reads the variable, as the store does
        if options := sorted(result.get(verb, {})):
            where = os.path.relpath(path)
            console.error_line(f"Settings     from {where}: {', '.join(options)}")
    _apply_environment(result, known)
    return {
        verb: {options[key].name: result[verb][key] for key in result[verb]}
        for verb, options in known.items()
    }


def _options(name: str, verb: Any) -> dict[str, Any]:
    """By key. Arguments are not settings: those of ``report`` are called like an option of
    ``compare``."""
    found = {_key(option): option for option in verb.params if option.param_type_name == "option"}
    others = NOT_SETTINGS | TYPED_ONLY.get(name, set())
    return {key: option for key, option in found.items() if key not in others}


def _key(option: Any) -> str:
    """``keep_env`` for ``--keep-env``. Its parameter may have another name, such as ``open_``."""
    return str(max(option.opts, key=len)).removeprefix("--").replace("-", "_")


def find_file(start: Path | None = None) -> Path | None:
    """The nearest here or above. Problems: E005 if it is another user's, E012 for a folder."""
    here = start or Path.cwd()
    for folder in (here, *here.parents):
        path = folder / FILE_NAME
        if os.path.isdir(path):  # noqa: PTH112  False where we may not look
            raise Problem(
                "E012",
                f"{path} is a folder",
                why="Settings are read from that name.",
                do="rename it, or go to another folder",
            )
        if os.path.isfile(path):  # noqa: PTH113
            from heapwise.store.ownership import demand_own

            demand_own(
                path,
                "go to another folder"
                if folder == here
                else f"put a {FILE_NAME} of your own, which may be empty, into {here}: the "
                "search ends there",
            )
            return path
    return None


def _apply_file(path: Path, result: Defaults, known: KnownOptions) -> None:
    try:
        document = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Problem("E012", f"{path} cannot be read: {error}") from error
    for key, value in document.items():
        if isinstance(value, dict):
            _check(key, set(known), f"table in {path}")
            for option, setting in value.items():
                _check(option, set(known[key]), f"key in [{key}] of {path}")
                result[key][option] = _typed(known[key][option], setting, path)
    for key, value in document.items():
        if not isinstance(value, dict):
            _check(key, set().union(*known.values()), f"key in {path}")
            option = next(options[key] for options in known.values() if key in options)
            _everywhere(result, known, key, _typed(option, value, path))


def _typed(option: Any, value: Any, path: Path) -> Any:
    """The value as the option takes it. Problem E012 for one of another type.

    Options that take values with commas between them, or that can be repeated, take lists too.
    """
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str):
            _demand_printable(text, f"{_key(option)} in {path}")
    wanted = option.type_descriptor.annotation
    needs = NEEDS.get(wanted, NEEDS[str])
    if option.multiple:
        parts, needs = (value if isinstance(value, list) else [value]), "a list of texts"
        if all(isinstance(part, str) for part in parts):
            return parts
    elif option.nargs > 1:
        needs = f"a list of {option.nargs} texts"
        if isinstance(value, list) and len(value) == option.nargs:
            if all(type(part) in (str, int) for part in value):
                return tuple(map(str, value))
    elif isinstance(value, list) and option.metavar in LISTS:
        if all(type(part) in (str, int) for part in value):
            return ",".join(map(str, value))
    elif type(value) is (wanted if wanted in NEEDS else str) or (
        wanted is float and type(value) is int
    ):
        return value
    raise Problem(
        "E012",
        f"{_key(option)} = {value!r} in {path}: it needs {needs}",
        do=f"write {needs} in {path.name}, or take the line out",
    )


def _apply_environment(result: Defaults, known: KnownOptions) -> None:
    every = set().union(*known.values())
    for variable, value in os.environ.items():
        option = variable.removeprefix("HEAPWISE_").lower()
        if not variable.startswith("HEAPWISE_") or variable.startswith(OF_LIBRARIES):
            continue
        if variable in OTHER_VARIABLES:
            continue
        if option in every:
            _demand_printable(value, variable)
            for verb, options in known.items():
                if option in options:
                    result[verb][option] = _of_variable(options[option], value, variable)


def _of_variable(option: Any, value: str, variable: str) -> Any:
    """One value for an option that can be repeated, and the words for one that takes several.
    Problem E003 for another number of words."""
    if option.multiple:
        return [value]
    if option.nargs == 1:
        return value
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    if len(words) != option.nargs:
        raise Problem(
            "E003",
            f"{variable}={value} needs {option.nargs} words",
            do=f"set {variable} to the words that would follow --{_key(option).replace('_', '-')}",
        )
    return tuple(words)


def _demand_printable(value: str, where: str) -> None:
    """Problem E003 for a value that could change what the terminal shows: --help prints it."""
    if any(unicodedata.category(letter) == "Cc" for letter in value):
        raise Problem(
            "E003",
            f"{where} has a control character in its value",
            do=f"set {where} again, or leave it out",
        )


def _everywhere(result: Defaults, known: KnownOptions, option: str, value: Any) -> None:
    """A table of a verb has priority over it."""
    for verb, options in known.items():
        if option in options and option not in result[verb]:
            result[verb][option] = value


def _check(word: str, allowed: set[str], what: str) -> None:
    if word in allowed:
        return
    hint = did_you_mean(word, sorted(allowed))
    raise Problem(
        "E003", f"unknown {what}: '{word}'{hint}", do="the keys are the long options: see --help"
    )
