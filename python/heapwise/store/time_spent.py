"""How much of its time a run has had, by what it stored."""

from __future__ import annotations

from collections.abc import Iterable

from heapwise.model import Process


def spent_s(processes: Iterable[Process]) -> float:
    """Processes that ran by themselves follow one another. A group lasts until all runs of its
    longest member have ended; of several runs, the time of the first one is stored."""
    alone_s = 0.0
    groups_s: dict[int, float] = {}
    for process in processes:
        wall_s, beside = process.facts.wall_s or 0.0, process.facts.beside
        if beside is None:
            alone_s += wall_s
        else:
            longest_s = groups_s.get(beside.baseline, 0.0)
            groups_s[beside.baseline] = max(longest_s, wall_s * beside.runs)
    return alone_s + sum(groups_s.values())
