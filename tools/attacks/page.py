"""Attacks and allocators as Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from itertools import pairwise

from heapwise.analysis.attacks import AttackTable, attack_tables
from heapwise.model import Fate, Result, name_with_peer, short_name
from heapwise.report import View
from heapwise.report.pages.machine import machine_table, title_of
from heapwise.report.pages.markdown import table
from heapwise.wording.attacks import LEGEND, fate_words
from heapwise.wording.names import spaced

OURS = name_with_peer("malloc", "heapwise-hardened")
SCORES = [
    "allocator",
    "built to resist",
    "stopped",
    "harmless",
    "corrupting",
    "hung",
    "false alarms",
]


def page(view: View) -> str:
    """As Markdown. Requires: a run of the family ``attacks``."""
    run = view.run
    lines = [
        "<!-- Made by `python -m attacks --page FILE`; do not edit. -->",
        "",
        f"# Attacks on malloc: {title_of(run.machine)}",
        "",
        f"Run of {run.created[:10]}: `{typed(run.command_line)}`, {_rounds(view.result)}. "
        f"{LEGEND} How far an allocator is "
        "built to resist is what its makers say; the counts are of attacks by their worst "
        "ending, so one attempt of many that corrupts makes an attack corrupting.",
        "",
    ]
    tables = attack_tables(view.result)
    for found in tables:
        lines += _of(found, view.result)
    lines += _lines_of_shortcomings(tables)
    return "\n".join([*lines, "## The machine", "", *machine_table(view), ""])


def typed(command_line: list[str]) -> str:
    """What was typed, except for the place of the store."""
    words = ["heapwise"]
    for before, word in pairwise(command_line):
        if "--store" not in (before, word):
            words.append(word)
    return shlex.join(words)


def _rounds(result: Result) -> str:
    counts = {row.n for row in result.rows if row.n}
    fewest, most = min(counts), max(counts)
    return f"{most} rounds" if fewest == most else f"{fewest} to {most} rounds of each attack"


def _of(found: AttackTable, result: Result) -> list[str]:
    [experiment] = [each for each in result.run.experiments if each.id == found.experiment]
    scores = [
        [
            short_name(name),
            _protection(name, result),
            *map(str, (score.stopped, score.harmless, score.corrupting, score.hung, score.alarms)),
        ]
        for name in found.subjects
        if (score := found.score(name))
    ]
    each = [
        [
            spaced(attack.name),
            str(attack.size),
            *(
                fate_words(attack.fates[name]) if name in attack.fates else "-"
                for name in found.subjects
            ),
        ]
        for attack in found.attacks
    ]
    names = [short_name(name) for name in found.subjects]
    return [
        f"## {experiment.question}",
        "",
        *table(SCORES, scores),
        "",
        *table(["attack", "bytes", *names], each),
        "",
    ]


def _protection(subject: str, result: Result) -> str:
    peer = next((s.peer for s in result.run.plan.subjects if s.name == subject), None)
    return peer.protection if peer else "plain"


def shortcomings(tables: Iterable[AttackTable]) -> Iterator[list[str]]:
    """What goes through in our hardened profile, and what others stop that it does not: attack,
    bytes, what it came to, the others."""
    for attack in (attack for found in tables for attack in found.attacks):
        ours = attack.fates.get(OURS)
        if ours is None:
            continue
        better = [
            short_name(name)
            for name, fate in attack.fates.items()
            if _badness(fate) < _badness(ours)
        ]
        if better or ours.corrupted > 0:
            yield [
                spaced(attack.name),
                str(attack.size),
                fate_words(ours),
                ", ".join(better) or "none",
            ]


def _lines_of_shortcomings(tables: Iterable[AttackTable]) -> list[str]:
    rows = list(shortcomings(tables))
    if not rows:
        return []
    return [
        f"## Where {short_name(OURS)} lets damage through, or stops less than another",
        "",
        "Attacks are compared by their worst ending: damage, then a process that goes on or "
        "hangs, then a stop of every attempt.",
        "",
        *table(["attack", "bytes", short_name(OURS), "better under"], rows),
        "",
    ]


def _badness(fate: Fate) -> int:
    if fate.corrupted > 0:
        return 2
    return 1 if fate.stopped < 1 - 1e-9 else 0
