"""The verdicts on a conclusion of a published report: whether it holds, and whether its size is as
published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from heapwise.analysis.verdicts.verdict import Figure, Kept, kept
from heapwise.model import Conclusion, Statement
from heapwise.wording.numbers import ends, significant

ConclusionVerdict = Literal[
    "confirmed", "refuted", "no such effect", "cannot tell here", "not possible here"
]

VERDICTS: tuple[ConclusionVerdict, ...] = (
    "confirmed",
    "refuted",
    "no such effect",
    "cannot tell here",
    "not possible here",
)

SizeVerdict = Literal["as published", "another size", "cannot tell here", "not possible here", ""]
"""Empty: of a conclusion that has no size, as that two figures are level or that something never
happens."""

SIZES: tuple[SizeVerdict, ...] = (
    "as published",
    "another size",
    "cannot tell here",
    "not possible here",
)

WORDS: dict[Kept, ConclusionVerdict] = {
    "met": "confirmed",
    "not met": "refuted",
    "cannot tell here": "cannot tell here",
}

SIZE_WORDS: dict[Kept, SizeVerdict] = {
    "met": "as published",
    "not met": "another size",
    "cannot tell here": "cannot tell here",
}

WORST_FIRST: tuple[ConclusionVerdict, ...] = (
    "refuted",
    "no such effect",
    "not possible here",
    "cannot tell here",
)
WORST_SIZE_FIRST: tuple[SizeVerdict, ...] = (
    "another size",
    "not possible here",
    "cannot tell here",
    "as published",
)

Word = TypeVar("Word", bound=str)

SOURCES = {"text": "its text says", "figures": "its figures show"}


@dataclass(frozen=True)
class JudgedStatement:
    """One statement. low and high: the interval that decides, the strict one of a ratio.
    published: the same ratio of the printed figures, one of each machine of the report."""

    words: str
    value: float | None
    low: float | None
    high: float | None
    verdict: ConclusionVerdict
    note: str = ""
    size: SizeVerdict = ""
    published: tuple[float, ...] = ()


@dataclass(frozen=True)
class JudgedConclusion:
    """``verdict``: whether each statement holds; ``size``: whether each ratio is as large as
    published. ``author``: the same conclusion, judged by the figures of the author's program."""

    conclusion: Conclusion
    verdict: ConclusionVerdict
    reason: str = ""
    parts: list[JudgedStatement] = field(default_factory=list)
    size: SizeVerdict = ""
    author: JudgedConclusion | None = None


def verdict_of(statement: Statement, figure: Figure, floor: float | None) -> ConclusionVerdict:
    """Whether the statement holds. floor: as of ``kept``.

    A difference that the report states may be too small here to have a direction: then that is
    known, and more rounds may find one.
    """
    word = kept(figure, statement.at_least, statement.at_most, floor)
    none = statement.no_effect
    if word == "cannot tell here" and none and kept(figure, *none, floor) == "met":
        return "no such effect"
    return WORDS[word]


def together(parts: Sequence[JudgedStatement]) -> tuple[ConclusionVerdict, str]:
    """Confirmed if each statement is, refuted as soon as one is; and the note of the worst."""
    for verdict in WORST_FIRST:
        for part in parts:
            if part.verdict == verdict:
                return verdict, part.note
    return "confirmed", ""


def size_together(parts: Sequence[JudgedStatement]) -> SizeVerdict:
    found = {part.size for part in parts}
    return next((size for size in WORST_SIZE_FIRST if size in found), "")


def counts_of(
    judged: Iterable[JudgedConclusion],
    word: Callable[[JudgedConclusion], Word],
    words: Sequence[Word],
) -> dict[Word, int]:
    """How many conclusions have each of ``words``, zeros included."""
    found = Counter(word(each) for each in judged)
    return {each: found[each] for each in words}


def statement_text(part: JudgedStatement) -> str:
    """``malloc / pool >= 1: 2.83, 1.35 to 4.52; published 11.0: another size``: the words, our
    figure, the interval that decides, and the same for the size."""
    if part.value is None:
        return f"{part.words}: {part.note}"
    interval = "no interval" if part.low is None or part.high is None else ends(part.low, part.high)
    note = f" ({part.note})" if part.note else ""
    text = f"{part.words}: {significant(part.value)}, {interval}{note}"
    if part.published:
        text += f"; published {' and '.join(map(significant, part.published))}"
    return f"{text}: {part.size}" if part.published and part.size else text


def judged_lines(judged: JudgedConclusion) -> list[str]:
    """What each statement comes to, and the reason of the verdict if they do not say it."""
    lines = [statement_text(part) for part in judged.parts]
    is_said = any(judged.reason in line for line in lines)
    return lines if is_said or not judged.reason else [*lines, judged.reason]


def source_text(judged: JudgedConclusion) -> str:
    return SOURCES[judged.conclusion.source]
