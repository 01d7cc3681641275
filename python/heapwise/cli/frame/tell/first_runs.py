"""What a comparison shows of its first processes, before anything has an interval."""

from __future__ import annotations

from statistics import median

from heapwise.model import Process, Run
from heapwise.wording.lists import counted
from heapwise.wording.numbers import scale_for

BUSY = 0.5
"""If something waited for a processor for half of a typical process, its time says little: then
its processor time is shown."""

NAMED = 8
"""Rows that the line names."""


class FirstRuns:
    """The medians of each row so far, warm-up included. No verdict, and no ratio: two processes
    differ by chance alone."""

    def __init__(self) -> None:
        self.line = ""
        """It is replaced as a whole, because another thread draws it."""

        self._is_shown = False
        self._labels: set[str] = set()
        self._times: dict[str, list[tuple[float, float]]] = {}
        self._waits: list[float] = []

    def begin(self, run: Run) -> None:
        """Only a comparison whose verdicts are shown early, of one set of parameters."""
        traits = run.plan.traits
        self._is_shown = traits.shown_early and not run.plan.parameters
        self._labels = {subject.name for subject in run.plan.subjects if subject.control}

    def note(self, process: Process) -> bool:
        """Returns whether the line has a row that it did not have."""
        facts = process.facts
        if (
            not self._is_shown
            or process.status != "ok"
            or process.subject in self._labels
            or facts.counting
            or facts.beside is not None
            or not facts.wall_s
        ):
            return False
        is_new = process.subject not in self._times
        taken = float(facts.wall_s), float(facts.cpu_s or 0.0)
        self._times.setdefault(process.subject, []).append(taken)
        self._waits.append((facts.psi_cpu_us or 0) * 1e-6 / float(facts.wall_s))
        self.line = self._words()
        return is_new

    def _words(self) -> str:
        """``2 runs, no verdict yet: glibc 120 ms, scudo 140 ms``."""
        is_busy = median(self._waits) > BUSY
        found = {
            name: median(cpu_s if is_busy else wall_s for wall_s, cpu_s in taken)
            for name, taken in self._times.items()
        }
        scale = scale_for(found.values(), "s")
        words = [f"{name} {scale.text(value)}" for name, value in [*found.items()][:NAMED]]
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        runs = counted(max(map(len, self._times.values())), "run")
        what = f"{runs}, no verdict yet{', CPU time' if is_busy else ''}"
        return f"{what}: {', '.join(words)}{more}"
