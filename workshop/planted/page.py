"""The page of planted effects: a table, how many were told, and whether that was right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from heapwise.document import Sentence, SentenceList, TextTable, plain_table, under
from heapwise.document.markdown import markdown_page
from heapwise.model import SIDE_BY_SIDE
from heapwise.wording.lists import counted
from workshop.planted.judged import Effect, Looked, counting
from workshop.planted.truth import Truth

WAYS = {SIDE_BY_SIDE: "side by side", "cpu_time": "one by one"}

STEPS = """\
In each program a library plants work: a fixed number of steps at every 256th allocation of a
thread, or at the end of each process where a program allocates little. Before the comparison and
after it the program runs alone, with each dose and with none, in turn and in random order. The
effect that is true alone is what was planted over the program's own work, with its standard error.
It may make the own work dearer, too, since others take caches while the steps are computed: by how
much is seen in the fifth of the runs that was disturbed least, and it is a part of the effect if it
is more than four standard errors. That is done on all processors, and on one: a program with
several threads does other work on one processor, and one that starts many processes has other
costs. Beside an effect that is measured side by side stands the truth of one processor.

`heapwise compare` measures the program under this library with nothing planted, and with each dose.
If no option says so, it chooses by itself whether it measures side by side. There the library
records what was planted, too. What other processes do to a process, as to empty its caches, falls
on its own work. If that grows with the whole time of the process, the effect stays what it is
alone; if with the own work, it is what it is there. So the interval should hold one of them, or
what lies between. "Own work" is how much dearer the rest of the program was than without what was
planted: alone in quiet runs, and there in typical ones."""


WHOLE_RUNS = """\
A process runs the program several times, one run after the other, and more often where an effect is
planted: 11 times instead of 10 is 10 % more, whatever the machine does to both. So the effect is
known, except for the start of the program that runs the other, which is in both and is measured.

`heapwise compare` measures both beside busy processes. If no option says so, it chooses by itself
whether it measures side by side."""


def summary(looked: Sequence[Looked]) -> list[str]:
    """What came out, in sentences."""
    effects = [effect for each in looked for effect in counting(each.effects)]
    wrong = sum(effect.sign == "wrong" for effect in effects)
    programs = sum(bool(each.effects) for each in looked)
    judged = [effect for effect in effects if effect.holds is not None]
    return [
        f"{counted(programs, 'program')}, {counted(len(effects), 'effect')}, "
        f"{len(judged)} with an interval.",
        f"Direction wrong: {wrong} (the aim is 0).",
        *_missed(judged),
        *_told(effects),
    ]


def _missed(judged: Sequence[Effect]) -> Iterator[str]:
    there = [e.holds_truth(e.there) for e in judged if e.there]
    what = "all between alone and there" if there else "the truth"
    aim = "(the aim is at most 5 %)"
    yield f"The 95 % interval misses {what}: {_misses(e.holds for e in judged)} {aim}."
    if there:
        alone = [e.holds_truth(e.true) for e in judged]
        yield f"It misses what is true alone: {_misses(alone)}."
        yield f"It misses what is true there: {_misses(there)}."


def _misses(holds: Iterable[bool | None]) -> str:
    found = list(holds)
    misses = found.count(False)
    return f"{misses} of {len(found)}" + (f", {misses / len(found):.1%}" if found else "")


def _told(effects: Sequence[Effect]) -> Iterator[str]:
    for way, words in WAYS.items():
        for percent in sorted({effect.true.planted for effect in effects}):
            these = [e for e in effects if e.true.planted == percent and e.quantity == way]
            if these:
                told = sum(effect.sign == "right" for effect in these)
                yield f"{percent:g} % told, {words}: {told} of {len(these)}."
        errors = [
            effect.found - effect.true.effect
            for effect in effects
            if effect.quantity == way and effect.found is not None
        ]
        if errors:
            yield f"Found minus true, {words}: {median(errors):+.2f} points in the median."


def effect_table(looked: Sequence[Looked]) -> TextTable:
    """A row for each effect that counts; with what is true there if that is known of any."""
    found = [(each, effect) for each in looked for effect in counting(each.effects)]
    is_known = any(effect.there for _, effect in found)
    header = [
        *("program", "CPU time", "measured", "true alone" if is_known else "true"),
        *(["true there"] if is_known else []),
        *("found", "95 % CI", "verdict", "holds"),
        *(["own work alone", "there"] if is_known else []),
    ]
    rows = [
        [
            each.program,
            f"{each.cpu_s:.3g} s",
            WAYS[effect.quantity],
            _truth(effect.true),
            *([_truth(effect.there)] if is_known else []),
            _percent(effect.found),
            f"{_percent(effect.low)} to {_percent(effect.high)}",
            effect.verdict,
            {True: "yes", False: "no", None: "-"}[effect.holds],
            *([_percent(effect.true.own), _percent(effect.own)] if is_known else []),
        ]
        for each, effect in found
    ]
    return plain_table([header, *rows])


def page(
    looked: Sequence[Looked], missing: Sequence[str], command: str, conditions: Sequence[str]
) -> str:
    """As Markdown. missing: programs that are not installed. conditions: the title, how effects are
    planted, and sentences on how it was measured."""
    title, introduction, *how = conditions
    failed = [each for each in looked if not each.effects]
    refused = [f"{each.program}: {' '.join(each.said.split())}" for each in failed]
    absent = [f"not installed: {', '.join(missing)}"] if missing else []
    passages = [
        Sentence(introduction),
        Sentence("\n".join(how)),
        SentenceList(summary(looked)),
        effect_table(looked),
        *under("Not measured", [SentenceList([*refused, *absent])]),
    ]
    return markdown_page(title, passages, f"Made by `{command}`; do not edit.")


def _truth(truth: Truth | None) -> str:
    return f"{_percent(truth.effect)} ± {truth.error:.2f}" if truth else "-"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f} %"
