"""Shows a campaign while it goes on: a live line on a terminal, a line every 30 s elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from heapwise.cli.frame.tell import console
from heapwise.cli.frame.tell.first_runs import FirstRuns
from heapwise.errors import Problem
from heapwise.model import SIDE_BY_SIDE, Process, Run, SubjectName
from heapwise.runner import LONGEST_S, Outcome, Progress, Step
from heapwise.wording.durations import show_duration, show_limit
from heapwise.wording.lists import listed
from heapwise.wording.numbers import show, size
from heapwise.wording.progress_bar import bar
from heapwise.wording.visible import visible

if TYPE_CHECKING:
    from heapwise.evidence import Evidence

EVERY_S = 30.0


class NoProgress:
    """Says nothing, for ``--quiet``."""

    def begin(self, run: Run) -> None:
        pass

    def step(self, step: Step, progress: Progress) -> None:
        pass

    def done(self, process: Process) -> None:
        pass

    def printed(self, step: Step, outcome: Outcome) -> None:
        """What a process printed, for --show-output."""
        for line in printed_lines(step, outcome):
            console.error_line(line)

    def so_far(self, evidence: Evidence, elapsed_s: float) -> None:
        """What a comparison knows by now."""

    def dropped(self, subject: str, reason: str) -> None:
        console.error_line(f"{subject}: {reason}, three times; left out from now on")

    def end(self) -> None:
        pass


@dataclass(frozen=True)
class CurrentProcess:
    """The process that is under way, and since when."""

    step: Step
    progress: Progress
    limit_s: float
    began_s: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        return visible(
            describe(self.step, self.progress, time.monotonic() - self.began_s, self.limit_s)
        )


class FirstServers:
    """What the first server of each allocator answered, long before there is a verdict."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def at(self, process: Process) -> str:
        """``heapwise: 3,237 requests/s, 74.5 MiB (one server, no verdict)``; "" for one that is
        not the first, or that was not asked for as many requests as it can answer."""
        name, load = process.subject, process.facts.load
        if not load or not load.achieved_rate or load.intended_rate is not None:
            return ""
        is_sound = process.status == "ok" and not process.facts.counting
        if not is_sound or name in self._shown or SubjectName.parse(name).control:
            return ""
        self._shown.add(name)
        peak = process.facts.peak_rss_bytes
        rate = show(float(load.achieved_rate), "requests/s")
        return f"{name}: {rate}{f', {size(peak)}' if peak else ''} (one server, no verdict)"


class Lines(NoProgress):
    """No terminal: no escape codes, and a line every 30 s, however long one process takes."""

    def __init__(self) -> None:
        self._now: CurrentProcess | None = None
        self._servers = FirstServers()
        self._limit_s = 0.0
        self._ended = Event()

    def begin(self, run: Run) -> None:
        self._limit_s = first_limit_s(run)
        Thread(target=self._tell, daemon=True).start()

    def step(self, step: Step, progress: Progress) -> None:
        self._now = CurrentProcess(step, progress, self._limit_s)

    def done(self, process: Process) -> None:
        if words := self._servers.at(process):
            console.error_line(words)

    def so_far(self, evidence: Evidence, elapsed_s: float) -> None:
        if words := verdict_words(evidence):
            console.error_line(f"after {show_duration(elapsed_s)}: {words}")

    def end(self) -> None:
        self._ended.set()

    def _tell(self) -> None:
        while not self._ended.wait(EVERY_S):
            if self._now is not None:
                with suppress(console.ReaderGone, Problem):
                    console.error_line(self._now.line())


class Live(NoProgress):
    """One line of a terminal, rewritten by rich once a second: the time moves on."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._now: CurrentProcess | None = None
        self._first = FirstRuns()
        self._servers = FirstServers()
        self._known = ""
        self._limit_s = 0.0
        self._live: Any = RichLive(
            console=Console(stderr=True, highlight=False),
            refresh_per_second=1,
            transient=True,
            get_renderable=self._line,
        )

    def begin(self, run: Run) -> None:
        self._limit_s = first_limit_s(run)
        self._first.begin(run)
        self._live.start()

    def step(self, step: Step, progress: Progress) -> None:
        self._now = CurrentProcess(step, progress, self._limit_s)

    def _line(self) -> Any:
        from rich.text import Text

        known = self._known or visible(self._first.line)
        lines = [line for line in (known, self._now.line() if self._now else "") if line]
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    def done(self, process: Process) -> None:
        if self._first.note(process):
            self._live.refresh()
        if words := self._servers.at(process):
            self._live.console.print(visible(words), markup=False, highlight=False)

    def so_far(self, evidence: Evidence, elapsed_s: float) -> None:
        after = f"after {show_duration(elapsed_s)}: "
        if words := verdict_words(evidence, self._live.console.width - len(after)):
            self._known = visible(f"{after}{words}")

    def printed(self, step: Step, outcome: Outcome) -> None:
        for line in printed_lines(step, outcome):
            self._live.console.print(visible(line), markup=False, highlight=False)

    def dropped(self, subject: str, reason: str) -> None:
        self._live.console.print(
            visible(f"{subject}: {reason}, three times; left out from now on"),
            markup=False,
        )

    def end(self) -> None:
        self._live.stop()


def printed_lines(step: Step, outcome: Outcome) -> list[str]:
    """Each with the name of the row; of a long output the beginning and the end."""
    text = (outcome.stdout + outcome.stderr).decode(errors="replace")
    return [f"{step.subject.name} | {line}" for line in text.splitlines()]


TOLD = 3
"""Rows that one line of words has room for."""


def verdict_words(evidence: Evidence, width: int = 1000) -> str:
    """``12 rounds: new 5.3 % faster than old (4.1 to 6.2 %)``; "" while nothing has an interval.
    The rows of one setting are ranked, so that the first is the best one so far. width: as many
    rows are named as fit into it, at least one."""
    from heapwise.analysis.verdicts.rows import make_rows
    from heapwise.wording.ratios import interval, relation, with_interval

    hidden = evidence.control_names
    every = make_rows(evidence)
    beside = any(row.quantity == SIDE_BY_SIDE and row.ratio_low is not None for row in every)
    rows = [
        row
        for row in every
        if row.quantity == (SIDE_BY_SIDE if beside else "wall_time")
        and row.ratio_low is not None
        and not row.baseline
        and row.subject not in hidden
    ]
    if not rows:
        return ""
    if len({row.parameters for row in rows}) == 1:
        rows.sort(key=lambda row: row.ratio or 1.0)
    told = [
        f"{f'{row.parameters}: ' if row.parameters else ''}{row.subject} "
        f"{with_interval(relation(row), interval(row))}"
        for row in rows
    ]
    what = "pairs side by side, CPU time" if beside else "rounds"
    most = max(row.n for row in rows)
    lines = [f"{most} {what}: {listed(told, number)}" for number in range(TOLD, 0, -1)]
    return next((line for line in lines if len(line) <= width), lines[-1])


def choose(quiet: bool) -> NoProgress:
    if quiet:
        return NoProgress()
    return Live() if console.is_live(sys.stderr) else Lines()


def first_limit_s(run: Run) -> float:
    """After how long the first process of a comparison is ended if no --timeout was given; else
    0."""
    return LONGEST_S if run.plan.traits.whole_programs and not run.plan.timeout_s else 0.0


def describe(
    step: Step, progress: Progress, elapsed_s: float = 0.0, first_limit_s: float = 0.0
) -> str:
    """``round 14 of 31  ###########---------  jemalloc   eta 0:52``; a process that takes longer
    than a second has its time so far, and the very first one the time after which it is ended. A
    process that took longer than all of the estimate shows that nobody knows the time left. Of
    rounds beyond the planned ones the most that may come is told: ``round 13 of at most 24``."""
    most = "at most " if progress.makes_up else ""
    total = f" of {most}{progress.rounds}" if progress.rounds else ""
    why = "   (in place of samples that do not count)" if progress.makes_up else ""
    eta = ""
    if progress.eta_s is not None and (progress.eta_s > elapsed_s or elapsed_s < 1):
        eta = f"   eta {most}{show_duration(max(0.0, progress.eta_s - elapsed_s))}"
    where = "" if step.experiment.id == "compare" else f"{step.experiment.id}  "
    warm = "   (warm-up)" if step.warm_up else ""
    so_far = f"   {show_limit(elapsed_s)} so far" if elapsed_s >= 1 else ""
    if so_far and first_limit_s and progress.eta_s is None and progress.round == 1:
        so_far += f" (no --timeout; it is ended after {show_limit(first_limit_s)})"
    told = f"round {progress.round}{total}  {bar(progress.share)}  {where}{step.subject.name}"
    return f"{told}{so_far}{eta}{warm}{why}"
