"""Limits of what one build may need, without a base: it is run by itself until each is decided."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heapwise.model import ProcessFacts
from heapwise.runner.commits.exact_counts import ExactCounts
from heapwise.runner.commits.timed_runs import TimedRuns
from heapwise.runner.executors.whole_program import peak_memory
from heapwise.runner.plan.compare_plan import DEFAULT_TIME_S, CompareRequest
from heapwise.stats.claims.limits import FIRST_LOOK, Decision, decide_ceiling
from heapwise.wording.metrics import OF_COUNTS


@dataclass(frozen=True)
class Needed:
    """What runs of a build needed of a metric. decision: of one that is not counted."""

    values: list[float]
    decision: Decision | None = None


@dataclass(frozen=True)
class MeasuredBuild:
    """A program at its path, with its arguments."""

    command: Sequence[str]
    request: CompareRequest = field(default_factory=CompareRequest)

    def of(self, ceilings: Mapping[str, float]) -> dict[str, Needed]:
        """In the order of the limits. Problem E030 if the program fails, or has no such count."""
        counts = {
            metric: Needed([*map(float, ExactCounts(metric, self.request).of(self.command))])
            for metric in ceilings
            if metric in OF_COUNTS
        }
        timed = {metric: most for metric, most in ceilings.items() if metric not in OF_COUNTS}
        found = counts | (self._timed(timed) if timed else {})
        return {metric: found[metric] for metric in ceilings}

    def _timed(self, ceilings: Mapping[str, float]) -> dict[str, Needed]:
        """Looks at the runs as a gate looks at its rounds, until the time is up."""
        request = self.request
        limit_s = DEFAULT_TIME_S if request.time_s is None else request.time_s
        runs, began_s = TimedRuns(self.command, request), time.monotonic()
        for _ in range(request.warm_up):
            runs.next()
        values: dict[str, list[float]] = {metric: [] for metric in ceilings}
        due, done = FIRST_LOOK, 0
        while True:
            facts = runs.next()
            for metric, found in values.items():
                found.append(_value(metric, facts))
            done += 1
            ended = time.monotonic() - began_s >= limit_s
            if done < due and not ended:
                continue
            needed = {
                metric: Needed(
                    found, decide_ceiling(found, ceilings[metric], len(ceilings), ended=ended)
                )
                for metric, found in values.items()
            }
            left = [look for each in needed.values() if (look := _next_look(each)) is not None]
            if ended or not left:
                return needed
            due = max(done + 1, min(left))


def _next_look(needed: Needed) -> int | None:
    decision = needed.decision
    open_ = decision is not None and decision.verdict == "cannot tell"
    return decision.next_look if decision and open_ else None


def _value(metric: str, facts: ProcessFacts) -> float:
    found = {"time": facts.wall_s, "cpu_time": facts.cpu_s, "peak_memory": peak_memory(facts)}
    return float(found[metric] or 0.0)
