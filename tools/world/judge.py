"""Whether a program noticed Heapwise, and whether a refusal gives the true reason."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

from world.program import Program
from world.run import Done, Place
from world.way import COUNTS, TRACE, Way

Verdict = Literal["pass", "refused", "fail", "not run"]

GOOD_COMPARISONS = (0, 4)
"""Exit codes of a comparison in which all processes did their work: 4 is a noisy machine."""

REFUSAL = re.compile(r"^error (E\d+): (.+(?:\n {6}\S.*)*)", re.MULTILINE)
"""The lines of an error after the first one are indented, and the way out is less so."""

COMPLAINT = re.compile(r"^heapwise[^\n:]*: .+", re.MULTILINE)
MOST_WORDS = 1500


class Judgement(msgspec.Struct, frozen=True):
    """The verdict on one way to run a program. reason: of a refusal, or what went wrong."""

    verdict: Verdict
    reason: str = ""


def judge_plain(program: Program, done: Done) -> Judgement:
    """Whether the program does its work without Heapwise."""
    if trouble := _bad_end(done, program.exit):
        return Judgement("fail", trouble)
    if not re.search(program.output, done.out, re.MULTILINE):
        return Judgement(
            "fail",
            f"the output has no {program.output!r}: {done.out[-500:]!r} {done.err[-MOST_WORDS:]}",
        )
    return Judgement("pass")


def judge(program: Program, way: Way, plain: Done, done: Done, place: Place) -> Judgement:
    """plain: of the same program without Heapwise, which did its work."""
    wanted = program.refusal(way.value) if way.is_verb else ""
    if way.is_verb and (refusal := _refusal(done)):
        return _of_refusal(wanted, *refusal)
    if wanted:
        # How it ended comes first: a crash is not a missing refusal.
        told = done.err[-MOST_WORDS:]
        return Judgement("fail", f"{_end(done)} and was not refused by {wanted}: {told}")
    trouble = _trouble(program, way, plain, done) or _unseen(program, way, place.folder / way.value)
    return Judgement("fail", trouble) if trouble else Judgement("pass")


def _of_refusal(wanted: str, id: str, what: str) -> Judgement:
    if not wanted:
        return Judgement("fail", f"refused by {id}: {what}")
    if id != wanted:
        return Judgement("fail", f"refused by {id}, not by {wanted}: {what}")
    return Judgement("refused", f"{id}: {what}")


def _refusal(done: Done) -> tuple[str, str] | None:
    found = REFUSAL.search(done.err) if done.status == 2 else None
    return (found[1], found[2]) if found else None


def _trouble(program: Program, way: Way, plain: Done, done: Done) -> str:
    """What differs from the plain run, or nothing."""
    if way is Way.COMPARE:
        good = done.status in GOOD_COMPARISONS
        return "" if good else f"{_end(done)}: {(done.out + done.err)[-MOST_WORDS:]}"
    if trouble := _bad_end(done, _expected(program, way)):
        return trouble
    if done.out != plain.out:
        return _difference(plain.out, done.out) + f"; {done.err[-MOST_WORDS:]}"
    complaint = COMPLAINT.search(done.err)
    return f"it complains: {complaint[0]}" if complaint else ""


def _expected(program: Program, way: Way) -> int:
    """The verbs end as a shell does."""
    return 128 - program.exit if way.is_verb and program.exit < 0 else program.exit


def _unseen(program: Program, way: Way, beside: Path) -> str:
    """A probe that saw nothing, though malloc can be replaced."""
    if program.refused or way not in (Way.COUNT, Way.RECORD, Way.PROFILE):
        return ""
    file = beside / (COUNTS if way is Way.COUNT else TRACE)
    return "" if file.exists() and file.stat().st_size else f"{way.value} saw no call of malloc"


def _bad_end(done: Done, expected: int) -> str:
    if done.status == expected:
        return ""
    return f"{_end(done)}: {done.out[-500:]} {done.err[-MOST_WORDS:]}"


def _end(done: Done) -> str:
    return "it hung" if done.status is None else f"it ended with {done.status}"


def _difference(one: str, other: str) -> str:
    pairs = zip(one.splitlines(), other.splitlines(), strict=False)
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            return f"line {number} of the output: {left[:200]!r} became {right[:200]!r}"
    return f"{len(one)} characters of output became {len(other)}"
