"""``--help`` shows the options that matter first, ``--help-all`` all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from heapwise.options import FIRST, Options, declared
from heapwise.wording.lists import counted

HELP = {"-h", "--help"}
HELP_ALL = "--help-all"

SHORT = 16
"""A verb with at most this many options shows all of them."""


@contextmanager
def shortened(command: Any, words: Sequence[str]) -> Iterator[list[str]]:
    """The words with ``--help`` in the place of ``--help-all``. While help is asked for without
    ``all``, the options that are rarely needed are hidden. words: those before ``--``."""
    verb = command.commands.get(next((word for word in words if word in command.commands), ""))
    hidden = [] if verb is None or not HELP & {*words} else _rare(verb)
    for option in hidden:
        option.hidden = True
    if hidden:
        verb.epilog = f"{counted(len(hidden), 'more option')}: heapwise {verb.name} {HELP_ALL}"
    try:
        yield ["--help" if word == HELP_ALL else word for word in words]
    finally:
        for option in hidden:
            option.hidden = False
        if hidden:
            verb.epilog = None


def _rare(verb: Any) -> list[Any]:
    """The options of a verb that others have, too, and that are not among the first."""
    options = [p for p in verb.params if p.param_type_name == "option" and not p.hidden]
    if len(options) <= SHORT:
        return []
    shared = declared(Options, verb.name)
    rare = {option.key for field, option in shared.items() if field not in FIRST}
    return [option for option in options if option.name in rare]
