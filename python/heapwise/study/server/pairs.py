"""Two servers at once, under the baseline and another allocator, each with a load of its own.

Both have the same processors, so whatever disturbs the machine disturbs both, and the ratio of
their processor times for each request is known far better than from servers that run one after
another (docs/design/statistics.md).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import ceil
from threading import Barrier, BrokenBarrierError

from msgspec import structs

from heapwise.errors import Problem
from heapwise.machine.free_memory import available_bytes
from heapwise.model import (
    FAILED_BESIDE,
    SIDE_BY_SIDE,
    Beside,
    LoadFacts,
    Process,
    Setting,
    Status,
    Subject,
    filled,
)
from heapwise.runner.campaign.executor import Sink, now
from heapwise.runner.campaign.steps import Step
from heapwise.runner.executors.beside import LEAST_OVERLAP
from heapwise.runner.process.launch import Outcome, tail
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.study.server.judgement import judge_server
from heapwise.study.server.load import Load
from heapwise.study.server.processor_time import processor_s
from heapwise.study.server.readiness import parse_ready, wait_until
from heapwise.study.server.server_process import Server
from heapwise.study.server.server_starts import ServerStarts
from heapwise.study.server.server_values import cpu_per_request

IN_VAIN = 2
"""If none of the first two pairs is sound, the server cannot run beside itself."""

PORT = "{port}"

WARM_UP_S = 1.0
"""Servers with a JIT compiler take twice the processor time for their first thousands of requests;
of two, one answers more of these."""


def obstacle(words: Mapping[str, Sequence[str]]) -> str:
    """Why two servers may not run at once; "" if nothing is known against it. words: name of a part
    of the command line -> its words."""
    fixed = [name for name, found in words.items() if not any(PORT in word for word in found)]
    return f"there is no {PORT} in {fixed[0]}, so two servers would have one port" if fixed else ""


@dataclass
class PairedServer:
    """One of the two. number: of its process. place: the name of its folder. began_s, ended_s: of
    its load, by time.monotonic."""

    subject: Subject
    number: int
    values: dict[str, Setting]
    load: Load
    place: str
    server: Server | None = None
    found: LoadFacts = field(default_factory=LoadFacts)
    trouble: str = ""
    began_s: float = 0.0
    ended_s: float = 0.0
    outcome: Outcome = field(default_factory=Outcome)


@dataclass
class ServerPairs:
    """exempt: executables that keep their own allocator."""

    starts: ServerStarts
    load: Load
    exempt: set[str]
    tried: int = 0
    sound: int = 0

    @property
    def is_in_vain(self) -> bool:
        """Whether the server cannot run beside itself."""
        return self.tried >= IN_VAIN and not self.sound

    def note(self, process: Process) -> None:
        """A process of an earlier invocation; of each pair the one that is not the baseline."""
        beside = process.facts.beside
        if beside is not None and beside.baseline != process.number:
            self.tried += 1
            self.sound += process.status == "ok"

    def measure(
        self,
        step: Step,
        alone: Process,
        next_number: Callable[[], int],
        stop: StopSwitch,
        record: Sink,
    ) -> None:
        """The subject of the step beside the baseline; records both processes, and a sample of each
        if both were sound. alone: the subject's server that ran by itself in this round."""
        if self.is_in_vain or stop.requested or not self._fits(alone):
            return
        started_at = now()
        baseline = next(s for s in self.starts.plan.subjects if s.baseline)
        members = [
            self._member(subject, next_number(), name)
            for subject, name in ((baseline, "first"), (step.subject, "second"))
        ]
        chance = random.Random(f"{self.starts.plan.seed}/pair/{members[0].number}")
        order = chance.sample(members, len(members))
        try:
            for member in order:
                self._start(member, alone, stop)
            self._put(chance.sample(members, len(members)), stop)
        finally:
            for member in order:
                if member.server is not None:
                    member.outcome = member.server.end()
        if stop.requested:
            return
        self._record(step, members, order, started_at, record)

    def _fits(self, alone: Process) -> bool:
        """Whether both servers need at most half of the memory that is free."""
        return 4 * (alone.facts.peak_rss_bytes or 0) <= available_bytes()

    def _member(self, subject: Subject, number: int, name: str) -> PairedServer:
        load = replace(
            self.load,
            folder=self.starts.place(f"generator-{name}"),
            seconds=self.starts.options.beside_s,
        )
        values = self.starts.values(f"data-{name}")
        return PairedServer(subject, number, values, load, f"server-{name}")

    def _start(self, member: PairedServer, alone: Process, stop: StopSwitch) -> None:
        """On as many processors as the server kept busy by itself: more would let the two part."""
        facts, options = alone.facts, self.starts.options
        busy = ceil((facts.cpu_s or 1.0) / (facts.wall_s or 1.0))
        ready = parse_ready(filled(options.ready, member.values))
        self.starts.prepare(member.values, stop)
        server = member.server = self.starts.start(
            member.subject,
            member.number,
            member.values,
            ready,
            cpus=options.server_cpus[: max(1, busy)],
            place=member.place,
        )
        if not wait_until(
            lambda: server.is_ready(ready),
            options.ready_s,
            lambda: server.runs and not stop.requested,
        ):
            member.trouble = "it was not ready"

    def _put(self, members: Sequence[PairedServer], stop: StopSwitch) -> None:
        """Both loads at once, if both servers are ready."""
        if stop.requested or any(member.trouble for member in members):
            return
        both = Barrier(len(members))
        with ThreadPoolExecutor(len(members)) as threads:
            list(threads.map(lambda member: _put_one(member, both, stop), members))

    def _record(
        self,
        step: Step,
        members: Sequence[PairedServer],
        order: Sequence[PairedServer],
        started_at: str,
        record: Sink,
    ) -> None:
        found = [
            self._process(step, member, started_at, _beside(member, members, order))
            for member in members
        ]
        is_sound = all(process.status == "ok" for process in found)
        for process in found:
            if process.status == "ok" and not is_sound:
                process = replace(
                    process, status="discarded", reason=f"{FAILED_BESIDE}the other one failed"
                )
            record(process)
            self.note(process)
        if is_sound:
            costs = _costs(found)
            for member, cost in zip(members, costs, strict=True):
                own = replace(step, subject=member.subject)
                record(own.sample(member.number, {SIDE_BY_SIDE: cost / costs[0]}))

    def _process(
        self, step: Step, member: PairedServer, started_at: str, beside: Beside
    ) -> Process:
        status, reason = self._judged(member, beside)
        facts = structs.replace(member.outcome.facts, load=member.found, beside=beside)
        if status not in ("ok", "interrupted"):
            # By itself it did its work: what failed is to run at once, which nobody asked of it.
            facts = structs.replace(facts, stderr_tail=tail(member.outcome.stderr))
            status, reason = "discarded", f"{FAILED_BESIDE}{reason}"
        return replace(step, subject=member.subject).process(
            member.number, started_at, status, reason, facts, member.outcome.identity
        )

    def _judged(self, member: PairedServer, beside: Beside) -> tuple[Status, str]:
        status, reason = judge_server(
            member.outcome, member.subject.peer, self.exempt, member.found, member.trouble
        )
        if status == "ok" and not member.outcome.facts.cpu_s:
            return "discarded", "it used no processor time"
        if status == "ok" and beside.overlap < LEAST_OVERLAP:
            return "discarded", f"the other load lasted for {beside.overlap:.0%} of its time"
        return status, reason


def _put_one(member: PairedServer, both: Barrier, stop: StopSwitch) -> None:
    """A load to warm up, and when both have ended, the one that counts."""
    assert member.server is not None
    launcher = member.server.launcher.pid
    try:
        replace(member.load, seconds=WARM_UP_S).put(None, member.values, stop)
        both.wait(member.load.seconds)
    except (Problem, BrokenBarrierError):
        pass  # what is wrong shows below, too
    member.began_s, before = time.monotonic(), processor_s(launcher)
    try:
        member.found = member.load.put(None, member.values, stop)
    except Problem as problem:
        member.trouble = problem.what
    member.ended_s, after = time.monotonic(), processor_s(launcher)
    if before is not None and after is not None and after > before:
        member.found = structs.replace(member.found, server_cpu_s=after - before)
    if not member.server.runs and not stop.requested:
        member.trouble = "it ended under the load"


def _beside(
    member: PairedServer, members: Sequence[PairedServer], order: Sequence[PairedServer]
) -> Beside:
    other = next(each for each in members if each is not member)
    shared = min(member.ended_s, other.ended_s) - max(member.began_s, other.began_s)
    lasted = member.ended_s - member.began_s
    return Beside(
        baseline=members[0].number,
        processes=len(members),
        place=order.index(member),
        prepared=order.index(member),
        overlap=max(0.0, shared / lasted) if lasted else 0.0,
    )


def _costs(found: Sequence[Process]) -> list[float]:
    """Processor time for each request while the loads lasted, in s; with that of the start and the
    end where the kernel does not say how it was in between."""
    loads = [process.facts.load for process in found]
    if all(load is not None and load.server_cpu_s for load in loads):
        return [float(load.server_cpu_s or 0) / load.requests for load in loads if load]
    return [cpu_per_request(process.facts) for process in found]
