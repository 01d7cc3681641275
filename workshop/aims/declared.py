"""The aims as they are declared in the ``*.toml`` of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from heapwise.model import Setting

Rows = Literal["speed", "main", "peak", "wall"]
"""Every throughput and latency; the same without quantiles of single calls; peak memory; the time
of a whole program."""

Where = dict[str, Setting | list[Setting]]

Allowance = Literal["floor", "level"]
"""The noise floor of the row, or what the verdict calls no difference: counts as equal."""


class RowAim(msgspec.Struct, frozen=True, tag_field="kind", tag="row", forbid_unknown_fields=True):
    """In every row that it covers, ``ours`` is ``factor`` times as good as each of the rivals. Of
    peak memory it has at most ``factor`` times as much.

    experiments: a pattern of ids; programs of the machine are meant only by the id of their
    experiment itself. allow: by experiment, what still counts as equal there.
    where: the value that a parameter has, or one of several. fastest: only the rival counts that
    is fastest there. quantities: all that ``rows`` means, if none is named.
    """

    says: str
    experiments: str
    rows: Rows
    ours: str
    rivals: str
    factor: float
    allow: dict[str, Allowance] = {}
    where: Where = {}
    fastest: bool = False
    quantities: tuple[str, ...] = ()


class MeanAim(
    msgspec.Struct, frozen=True, tag_field="kind", tag="mean", forbid_unknown_fields=True
):
    """``ours`` over each rival, as the geometric mean of all rows that it covers; as RowAim."""

    says: str
    experiments: str
    rows: Rows
    ours: str
    rivals: str
    factor: float
    where: Where = {}


class ScaleAim(
    msgspec.Struct, frozen=True, tag_field="kind", tag="scale", forbid_unknown_fields=True
):
    """``ours`` where ``parameter`` is ``at``, over ``ours`` where it is ``over``."""

    says: str
    experiment: str
    parameter: str
    at: int
    over: int
    ours: str
    factor: float


class LimitAim(
    msgspec.Struct, frozen=True, tag_field="kind", tag="limit", forbid_unknown_fields=True
):
    """The value of ``ours`` itself is at most ``limit`` in every cell.

    where: the value that a parameter has.
    """

    says: str
    experiment: str
    quantity: str
    ours: str
    limit: float
    where: Where = {}


Aim = RowAim | MeanAim | ScaleAim | LimitAim


class _Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    aim: list[Aim]


Subject = Literal["heap", "pools", "trees", "second-level"]


@cache
def aims(subject: Subject) -> tuple[Aim, ...]:
    """The aims of one file, in its order."""
    text = Path(__file__).with_name(f"{subject}.toml").read_bytes()
    return tuple(msgspec.toml.decode(text, type=_Declared).aim)
