"""What the command line has to know of an option. It stands beside the default of its field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeVar

T = TypeVar("T")

COMPARE, GATE, BISECT, SERVE = "compare", "gate", "bisect", "serve"
RUN, REPRODUCE, REPLAY, ADVISE = "run", "reproduce", "replay", "advise"

PROGRAMS = (COMPARE, GATE)
"""Verbs that run programs of the user beside each other."""

EXPERIMENTS = (RUN, REPRODUCE)
TRACES = (REPLAY, ADVISE)
MEASURING = (*PROGRAMS, BISECT, SERVE, *EXPERIMENTS, *TRACES)

KEY = "option"
"""Under this key a field's metadata has its ``Option``."""


class Form(Enum):
    """How the value is typed. ``PLAIN``: the command line itself reads it, by the field's type."""

    PLAIN = auto()
    DURATION = auto()
    """``90s``: seconds."""

    PROCESSORS = auto()
    """``0-3,6``."""

    EXITS = auto()
    """``1,2``: exit codes."""

    WORDS = auto()
    """``a,b``."""

    PERCENT = auto()
    """``0.5``: a share."""

    SHARES = auto()
    """``50%,70%``: shares above 0, up to 1."""

    WHOLE_SECONDS = auto()
    """``10s``: whole seconds, as load generators take them."""


@dataclass(frozen=True)
class Variation:
    """What one verb says of an option instead of the others. None: the same."""

    help: str | None = None
    typed: str | None = None


@dataclass(frozen=True)
class Option:
    """flags: as they are typed; the longest is the key in heapwise.toml. typed: the default as a
    user would type it; None if the help shows none. least: of a number. of_hyperfine: users of
    hyperfine know it; the help has it last."""

    flags: tuple[str, ...]
    help: str
    verbs: tuple[str, ...]
    metavar: str | None = None
    form: Form = Form.PLAIN
    typed: str | float | None = None
    least: int | None = None
    of_hyperfine: bool = False
    variations: Mapping[str, Variation] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """``keep_env`` for ``--keep-env``, and the first name of ``--one/--other``."""
        longest = max((flag.partition("/")[0] for flag in self.flags), key=len)
        return longest.removeprefix("--").replace("-", "_")

    def of(self, verb: str) -> Option:
        """As this verb has it."""
        other = self.variations.get(verb, Variation())
        return dataclasses.replace(
            self,
            help=self.help if other.help is None else other.help,
            typed=self.typed if other.typed is None else other.typed,
        )


def option(*flags: str, help: str, verbs: tuple[str, ...], default: Any = None, **more: Any) -> Any:
    """A field with this default that is an option of these verbs. A default that is a list is
    copied for each object. more: other fields of ``Option``."""
    metadata = {KEY: Option(flags, help, verbs, **more)}
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def declared(kind: type[Any], verb: str) -> dict[str, Option]:
    """The options that a verb has: the name of the field -> the option, in their order."""
    found = ((each.name, each.metadata.get(KEY)) for each in dataclasses.fields(kind))
    return {name: one.of(verb) for name, one in found if one and verb in one.verbs}


def taken(kind: type[T], source: Any, **more: Any) -> T:
    """A ``kind`` with each field that ``source`` has too, and with ``more``."""
    shared = _names(kind) & _names(source)
    return kind(**{name: getattr(source, name) for name in shared} | more)


def _names(kind: Any) -> set[str]:
    return {each.name for each in dataclasses.fields(kind)}
