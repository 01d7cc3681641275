"""Did something else use the machine during the measurement?

For each process Heapwise records the time that the hypervisor took, the time spent waiting for a
processor, involuntary switches, and the time for which a limit of the control group stopped
processes. A sample with more than 2 % of stolen time is discarded and counted. The waiting of a
parallel program does not count, because its own threads may cause it.
If it warns: something else is running, or the limit of the container is too low. Stop it, raise the
limit, or trust only large differences.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heapwise.evidence import Evidence
from heapwise.evidence.kept import MANY, STEAL_SHARE, TOO_MANY, measured, steal_share
from heapwise.model import Check, Process, Settings, Verdict
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

ID, TITLE = "V13", "No neighbour disturbed"

PRESSURE_SHARE = 0.10
"""Something had to wait for a processor during a tenth of the median process."""

SWITCHES_PER_S = 200
"""Involuntary switches per second of the median process: more than a time slice of 5 ms each."""


THROTTLED_SHARE = 0.01
"""The share of the time of all processes."""

PARALLEL = 0.8
"""A program that keeps its processors this busy waits for itself."""


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    processes = measured(stored)
    steals = [s for p in processes if (s := steal_share(p)) is not None]
    waits = [w for p in processes if (w := _pressure(p)) is not None]
    switches = [s for p in processes if (s := _switches(p)) is not None]
    if not steals and not waits and not switches:
        return Check(ID, TITLE, "unavailable", "Neither stolen time nor pressure was recorded.")
    result = evidence.filtered
    struck, removed, spared = result.struck[ID], result.removed[ID], result.spared[ID]
    robbed = struck > TOO_MANY * result.total or ID in result.joint
    figures: dict[str, float | None] = {
        "processes": len(processes),
        "struck": struck,
        "discarded": removed,
        "median_steal": _median(steals),
        "median_pressure": _median(waits),
        "median_switches_per_s": _median(switches),
        "throttled": _throttled(processes),
    }
    troubles = _troubles(figures, robbed, ID in result.joint)
    many = removed > MANY * result.total
    verdict: Verdict = "warn" if troubles or spared or many else "pass"
    words = troubles or [_stolen(figures["median_steal"])]
    if removed:
        words.append(
            f"{counted(removed, 'sample')} of {result.total} with more than "
            f"{percent(STEAL_SHARE)} stolen discarded, as the rule says"
        )
    if spared and not robbed:
        words.append(
            f"in {counted(spared, 'cell')} none would have been left, so the disturbed "
            "samples count there"
        )
    return Check(ID, TITLE, verdict, f"{'; '.join(words)}.", figures)


def _stolen(median: float | None) -> str:
    if median is None:
        return "Stolen time was not recorded"
    return f"Stolen time {percent(median)} in the median"


def _troubles(figures: Mapping[str, float | None], robbed: bool, joint: bool) -> list[str]:
    found = []
    if robbed:
        several = " together with those of other rules" if joint else ""
        found.append(
            f"the hypervisor took more than {percent(STEAL_SHARE)} of {figures['struck']} "
            f"samples:{several} too many to be exceptions, so none was discarded"
        )
    if (pressure := figures["median_pressure"] or 0) > PRESSURE_SHARE:
        found.append(
            f"something waited for a processor during {percent(pressure)} of the median process"
        )
    if (switches := figures["median_switches_per_s"] or 0) > SWITCHES_PER_S:
        found.append(f"the median process was put off its processor {switches:.0f} times a second")
    if (throttled := figures["throttled"] or 0) > THROTTLED_SHARE:
        found.append(
            f"a limit of the control group stopped processes for {percent(throttled)} of their time"
        )
    return [words[0].upper() + words[1:] if not i else words for i, words in enumerate(found)]


def _pressure(process: Process) -> float | None:
    """None for a program that keeps its processors busy: its own threads wait for each other. At
    most 1: the kernel's clock of waits and the one of the process are read at other moments."""
    waited_us, wall_s = process.facts.psi_cpu_us, process.facts.wall_s
    if waited_us is None or not wall_s or _is_parallel(process):
        return None
    return min(1.0, waited_us / 1e6 / wall_s)


def _is_parallel(process: Process) -> bool:
    cpu_s, wall_s = process.facts.cpu_s, process.facts.wall_s
    processors = len(process.facts.affinity or [])
    return bool(cpu_s and wall_s and processors > 1 and cpu_s > PARALLEL * processors * wall_s)


def _throttled(processes: list[Process]) -> float | None:
    """Share of the time of all processes; of several stopped at once each counts."""
    known = [
        (p.facts.throttled_us, p.facts.wall_s)
        for p in processes
        if p.facts.throttled_us is not None and p.facts.wall_s
    ]
    return sum(us for us, _ in known) / 1e6 / sum(wall for _, wall in known) if known else None


def _switches(process: Process) -> float | None:
    """None where several threads share the processors: they put each other off."""
    number, wall_s = process.facts.involuntary_switches, process.facts.wall_s
    if number is None or not wall_s or wall_s < 0.1:
        return None
    parallel = Settings.of(process.parameters).number("threads", 1) > 1
    if parallel or _is_parallel(process):
        return None
    return number / wall_s


def _median(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None
