"""Did something else use the same core?

If both hardware threads of a core work, each may run at only half of its speed. A virtual machine
cannot see what runs on the other thread. Chains of additions, timed before and after each
sample, show it. Before a sample, an experiment waits for a while until nothing else uses its core.
The measurement after a sample counts only if it finds neighbours as often for the baseline.
Otherwise the subject's own background work shares the core. For a program nothing is discarded,
because a measurement before it says little about the seconds in which it runs.
If it warns: something that you cannot see uses the machine. Run again at another time.
"""

from __future__ import annotations

import numpy as np

from heapwise.evidence import Evidence
from heapwise.evidence.breadth import References
from heapwise.evidence.kept import CROWD, TOO_MANY, measured
from heapwise.model import Check, Verdict
from heapwise.stats.basics.ranks import mann_whitney
from heapwise.stats.claims.holm import holm
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import percent

ID, TITLE = "V26", "Each core was ours alone"

WAITED_NS = 50e6
"""Allocators that give memory back by the clock have time for it from about here on."""

SURE, MATTERS, FEWEST = 0.01, 0.01, 8


def _samples(evidence: Evidence) -> Check:
    crowds = [c for candidate in evidence.candidates if (c := candidate.crowd()) is not None]
    if not crowds:
        return Check(ID, TITLE, "unavailable", "No chains were timed around the samples.")
    result = evidence.filtered
    struck, removed, spared = result.struck[ID], result.removed[ID], result.spared[ID]
    waits = wait_effects(evidence)
    own = {c.sample.subject for c in evidence.candidates if not c.after_counts}
    figures = {
        "samples": len(crowds),
        "struck": struck,
        "discarded": removed,
        "cells_as_they_are": spared,
        "median": float(np.median(crowds)),
        "largest": max(crowds),
        "waits": waits,
        "busy_afterwards": sorted(own),
    }
    verdict: Verdict = "warn" if spared or waits else "pass"
    words = (
        f"Around each of {counted(len(crowds), 'sample')} a core did what it can, within "
        f"{percent(CROWD)}"
    )
    if struck:
        words = (
            f"Around {struck} of {len(crowds)} samples somebody shared the core, or its "
            f"clock was lower; {removed} of them discarded, as the rule says"
        )
    if spared:
        words += (
            f"; in {counted(spared, 'cell')} too few others would have been left, so "
            "their intervals carry it"
        )
    if waits:
        words += "; after a wait for a quiet core values differ: " + listed(
            f"{name} by {percent(effect)}" for name, effect in waits.items()
        )
    return Check(ID, TITLE, verdict, f"{words}.", figures)


def _programs(evidence: Evidence) -> Check:
    looks = [
        (
            p,
            [
                (look.cpu, float(look.breadth_before_ns))
                for look in p.facts.processors or ()
                if look.breadth_before_ns
            ],
        )
        for p in measured(evidence.stored)
    ]
    looked = [found for _, found in looks if found]
    if not looked:
        return Check(ID, TITLE, "unavailable", "No chains were timed before the processes.")
    usual = References(look for found in looked for look in found)
    crowds = [max(took / usual.of(cpu) - 1 for cpu, took in found) for found in looked]
    struck = sum(crowd > CROWD for crowd in crowds)
    figures = {
        "processes": len(crowds),
        "struck": struck,
        "median": float(np.median(crowds)),
        "largest": max(crowds),
    }
    if not struck:
        return Check(
            ID,
            TITLE,
            "pass",
            "Before each of "
            f"{counted(len(crowds), 'process', 'processes')} every core did what it can, "
            f"within {percent(CROWD)}.",
            figures,
        )
    words = (
        f"Before {struck} of {len(crowds)} processes somebody shared a core, or its clock was "
        "lower; this check discards nothing of programs, so the intervals carry it"
    )
    return Check(
        ID, TITLE, "warn" if struck > TOO_MANY * len(crowds) else "pass", f"{words}.", figures
    )


def wait_effects(evidence: Evidence) -> dict[str, float]:
    """Subject -> how much its values differ after a long wait, where that is certain.

    Each value is taken relative to the median of its process, so that only the wait differs.
    """
    firsts = {e.id: e.quantities[0].name for e in evidence.stored.run.experiments}
    processes: dict[int, list[tuple[bool, float]]] = {}
    names: dict[int, str] = {}
    for candidate in evidence.candidates:
        sample = candidate.sample
        value = sample.values.get(firsts.get(sample.experiment, ""), 0.0)
        if sample.facts.waited_ns is not None and value > 0:
            waited = sample.facts.waited_ns > WAITED_NS
            processes.setdefault(sample.process, []).append((waited, float(np.log(value))))
            names[sample.process] = sample.subject
    groups: dict[str, tuple[list[float], list[float]]] = {}
    for number, found in processes.items():
        middle = float(np.median([value for _, value in found]))
        for waited, value in found:
            groups.setdefault(names[number], ([], []))[waited].append(value - middle)
    return _certain({name: both for name, both in groups.items() if min(map(len, both)) >= FEWEST})


def _certain(groups: dict[str, tuple[list[float], list[float]]]) -> dict[str, float]:
    p_values = [
        mann_whitney(np.array(waited), np.array(others)) for others, waited in groups.values()
    ]
    effects = {
        name: float(np.expm1(np.median(waited) - np.median(others)))
        for name, (others, waited) in groups.items()
    }
    return {
        name: effects[name]
        for name, p in zip(effects, holm(p_values), strict=True)
        if p < SURE and abs(effects[name]) > MATTERS
    }


check = Applies(ID, TITLE, programs, _programs, others=_samples)
