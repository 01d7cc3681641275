"""What the author's own program of a published report printed, and where a figure of it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec


class AuthorOutput(msgspec.Struct, frozen=True):
    """One file. Each record has names of columns, with a number or a text for each."""

    file: str
    records: list[dict[str, float | str]]


@dataclass(frozen=True)
class AuthorFigure:
    """``value``: the column that has the number, or ``*`` behind the beginning of its name.
    ``records``: columns -> texts of the records that have it. ``scale``: how many of the
    author's units make one of the report's."""

    value: str
    records: dict[str, str] = field(default_factory=dict)
    scale: float = 1.0
