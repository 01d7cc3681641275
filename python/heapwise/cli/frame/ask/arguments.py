"""How the help shows arguments: as their metavars, which have the brackets and dots of a usage."""

from __future__ import annotations

from functools import partial
from typing import Any


def show_metavars(command: Any) -> None:
    """Sets the metavars of a command and of all below it. Newer versions of typer add brackets of
    their own and the type that Python has for the values, as in ``[[RUN]...]... <list[str]>``."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            word = parameter.metavar or parameter.name.upper()
            parameter._usage_display_name = partial(str, word)
            parameter.display_type_rich = _no_type
    for below in getattr(command, "commands", {}).values():
        show_metavars(below)


def _no_type(ctx: Any) -> None:
    return None
