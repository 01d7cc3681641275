"""Executes the steps of a comparison of servers: one server for each step, under one allocator."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from msgspec import structs

from heapwise.catalog import COUNTER, native_folder, system_peer
from heapwise.errors import Problem
from heapwise.evidence.identity import own_allocators
from heapwise.model import (
    Experiment,
    LoadFacts,
    Plan,
    Process,
    Sample,
    ServerOptions,
    Setting,
    Status,
    Subject,
    filled,
)
from heapwise.runner.campaign.executor import Executor, Sink, now
from heapwise.runner.campaign.steps import REFERENCE_ROUND, Step
from heapwise.runner.campaign.watcher import Watcher
from heapwise.runner.executors.counting import COUNTING_ROUND, with_totals
from heapwise.runner.process.launch import Outcome, tail
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.study.server.judgement import judge_server
from heapwise.study.server.load import Load, load_of
from heapwise.study.server.pairs import ServerPairs
from heapwise.study.server.readiness import (
    Ready,
    listens,
    parse_ready,
    wait_until,
)
from heapwise.study.server.server_process import Server
from heapwise.study.server.server_starts import ServerStarts
from heapwise.study.server.server_values import server_values
from heapwise.study.server.windows import put_windows
from heapwise.wording.durations import show_limit
from heapwise.wording.numbers import significant

CAPACITY = "capacity"
"""The value of the parameter ``load`` of a cell in which requests are sent as fast as they are
answered."""

NOTICE_S = 1.0
"""After a load generator failed, for the end of its server to be seen."""

COUNTED_S = 30.0
"""With a longer load the live bytes are not counted: that takes a server of its own."""


@dataclass
class ServerExecutor:
    """``environment`` is what the servers get, secrets included."""

    plan: Plan
    environment: dict[str, str]
    experiment: Experiment
    rates: dict[str, float] = field(default_factory=dict)
    """Subject -> requests a second that it answered at most before the first round."""

    def __post_init__(self) -> None:
        options = self.plan.options.server
        assert options is not None
        self._options: ServerOptions = options
        self._folder = ScratchFolder()
        self._starts = ServerStarts(self.plan, options, self.environment, self._folder.path)
        self._ready = options.ready
        self._quantities = {quantity.name for quantity in self.experiment.quantities}
        self._c_library = system_peer()
        self._exempt: set[str] = set()
        self._is_counted = False
        self._next_number: Callable[[], int] = lambda: 0
        self._load: Load = load_of(
            options.load,
            self.environment,
            options.load_s,
            options.load_cpus,
            self._starts.place("generator"),
        )
        self._pairs = ServerPairs(self._starts, self._load, self._exempt)

    def resume_from(self, processes: list[Process]) -> None:
        """The capacities that the rates come from."""
        for process in processes:
            load = process.facts.load
            self._pairs.note(process)
            if process.facts.counting:
                self._is_counted = True
            elif process.round == REFERENCE_ROUND and process.status == "ok" and load:
                self.rates[process.subject] = float(load.achieved_rate)

    def prepare(self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]) -> None:
        """If there are rates, finds the capacity under each allocator: the slowest decides the
        rates of all. Then counts live bytes. Problem E030 if the server does not work under the
        baseline."""
        self._next_number = next_number
        if self._options.rates:
            self._find_capacities(stop, record, next_number)
        if (
            not (self._is_counted or stop.requested or self._options.load_s > COUNTED_S)
            and (native_folder() / COUNTER).exists()
        ):
            record(self._count(stop, next_number()))

    def _count(self, stop: StopSwitch, number: int) -> Process:
        """A server of the baseline with the counting probe inside, under a load without a rate. It
        is in no figure but that of the most live bytes, and may fail."""
        self._is_counted = True
        baseline = next(subject for subject in self.plan.subjects if subject.baseline)
        return self._measure(
            baseline, {"load": CAPACITY}, COUNTING_ROUND, number, stop, None, counts=True
        )

    def _find_capacities(
        self, stop: StopSwitch, record: Sink, next_number: Callable[[], int]
    ) -> None:
        for subject in self.plan.subjects:
            if subject.control or subject.name in self.rates or stop.requested:
                continue
            process = self._measure(
                subject, {"load": CAPACITY}, REFERENCE_ROUND, next_number(), stop, None
            )
            record(process)
            if process.status == "ok" and process.facts.load:
                self.rates[subject.name] = float(process.facts.load.achieved_rate)
            elif subject.baseline and not stop.requested:
                raise Problem(
                    "E030",
                    f"the server failed under the baseline: {process.reason}{_said(process)}",
                )

    def finish(self) -> list[str]:
        if not self._pairs.is_in_vain:
            return []
        return ["the server was not measured side by side: no pair of servers was sound"]

    def after(self, process: Process) -> None:
        """Problem E030 if the baseline fails in the first round."""
        baseline = next(s.name for s in self.plan.subjects if s.baseline)
        if (
            process.subject == baseline
            and process.status not in ("ok", "discarded")
            and process.round <= 0
            and process.status != "interrupted"
        ):
            raise Problem(
                "E030", f"the server failed under the baseline: {process.reason}{_said(process)}"
            )

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Sink) -> Process:
        process = self._measure(
            step.subject, step.parameters, step.round, number, stop, record, warm_up=step.warm_up
        )
        if self._goes_beside(step) and process.status == "ok":
            self._pairs.measure(step, process, self._next_number, stop, record)
        return process

    def _goes_beside(self, step: Step) -> bool:
        """Whether the subject is measured beside the baseline, too, in the round of this step."""
        return (
            bool(self._options.beside_s)
            and not (step.subject.baseline or step.warm_up)
            and step.parameters.get("load", CAPACITY) == CAPACITY
        )

    def _rate(self, load: Setting) -> float | None:
        """The rate of a cell: a share of the capacity of the slowest. A whole number, as most
        generators take no other."""
        if load == CAPACITY or not self.rates:
            return None
        share = float(str(load).rstrip("%")) / 100
        rate = float(significant(share * min(self.rates.values())).replace(",", ""))
        return float(max(1, round(rate)))

    def _measure(
        self,
        subject: Subject,
        cell: dict[str, Setting],
        round: int,
        number: int,
        stop: StopSwitch,
        record: Sink | None,
        *,
        warm_up: bool = True,
        counts: bool = False,
    ) -> Process:
        """One server from its start to its end, with a sample if it and its load were sound.
        counts: with the counting probe in place of the one that looks for the allocator."""
        started_at = now()
        values = self._starts.values()
        ready = parse_ready(filled(self._ready, values))
        rate = self._rate(cell.get("load", CAPACITY))
        load = LoadFacts()
        if listens(ready):
            status: Status = "failed"
            reason = (
                f"port {ready.address[1] if ready.address else ''} is in use: another "
                "program answers there before the server was started"
            )
            return self._process(
                subject,
                cell,
                round,
                number,
                Outcome(),
                status,
                reason,
                load,
                started_at,
                warm_up=warm_up,
            )
        self._starts.prepare(values, stop)
        server = self._starts.start(
            subject, number, values, ready, cpus=self._options.server_cpus, counts=counts
        )
        trouble = ""
        try:
            load, trouble = self._use(
                server,
                ready,
                rate,
                values,
                stop,
                must_work=not counts and (subject.baseline or subject.control),
            )
        finally:
            outcome = server.end()
        if stop.requested:
            outcome = Outcome(outcome.facts, outcome.identity, interrupted=True)
        if counts:
            return self._counted(subject, cell, number, outcome, load, trouble, started_at)
        self._learn(subject, outcome)
        status, reason = judge_server(outcome, subject.peer, self._exempt, load, trouble)
        process = self._process(
            subject, cell, round, number, outcome, status, reason, load, started_at, warm_up=warm_up
        )
        if status == "ok" and record is not None:
            record(
                Sample(
                    process=number,
                    experiment=process.experiment,
                    subject=subject.name,
                    parameters=cell,
                    round=round,
                    repeat=0,
                    warm_up=warm_up,
                    values=server_values(process, self._quantities),
                )
            )
        return process

    def _counted(
        self,
        subject: Subject,
        cell: dict[str, Setting],
        number: int,
        outcome: Outcome,
        load: LoadFacts,
        trouble: str,
        started_at: str,
    ) -> Process:
        """Only live bytes are kept: the number of calls depends on how much the server worked."""
        totals = with_totals(outcome.facts, outcome.counts)
        facts = structs.replace(totals, calls=None, bytes_requested=None, sizes=None)
        status: Status = "interrupted" if outcome.interrupted else "discarded" if trouble else "ok"
        return self._process(
            subject,
            cell,
            COUNTING_ROUND,
            number,
            replace(outcome, facts=facts),
            status,
            trouble,
            load,
            started_at,
            warm_up=True,
        )

    def _use(
        self,
        server: Server,
        ready: Ready,
        rate: float | None,
        values: dict[str, Setting],
        stop: StopSwitch,
        *,
        must_work: bool,
    ) -> tuple[LoadFacts, str]:
        """What the load did, and what went wrong. Problem E035 if the load generator fails although
        the server runs and must work; under another allocator that may be the server's fault."""

        def goes_on() -> bool:
            return server.runs and not stop.requested

        if not wait_until(lambda: server.is_ready(ready), self._options.ready_s, goes_on):
            if stop.requested:
                return LoadFacts(), ""
            if not server.runs:
                return LoadFacts(), "it ended before it was ready"
            return LoadFacts(), f"it was not ready after {show_limit(self._options.ready_s)}"
        ready_s = time.monotonic() - server.started
        began_s = time.monotonic() - server.started
        try:
            load = self._put(server, rate, values, stop)
        except Problem as problem:
            if wait_until(lambda: not server.runs, NOTICE_S, lambda: True):
                return LoadFacts(), "it ended under the load"
            if must_work:
                raise
            return LoadFacts(), problem.what
        ended_s = time.monotonic() - server.started
        trouble = "" if server.runs or stop.requested else "it ended under the load"
        if not trouble:
            wait_until(lambda: False, self._options.idle_s, goes_on)
            if not server.runs and not stop.requested:
                trouble = "it ended after the load"
        return structs.replace(
            load,
            ready_s=ready_s,
            began_s=began_s,
            ended_s=ended_s,
            stopped_s=time.monotonic() - server.started,
        ), trouble

    def _put(
        self, server: Server, rate: float | None, values: dict[str, Setting], stop: StopSwitch
    ) -> LoadFacts:
        window_s = self._options.window_s
        if not window_s:
            return self._load.put(rate, values, stop)
        return put_windows(self._load, window_s, rate, values, stop, server.started)

    def _learn(self, subject: Subject, outcome: Outcome) -> None:
        """Executables that have another allocator although nothing is preloaded keep it."""
        if subject.peer is None or not subject.peer.path:
            self._exempt |= own_allocators(outcome.identity, self._c_library)

    def _process(
        self,
        subject: Subject,
        cell: dict[str, Setting],
        round: int,
        number: int,
        outcome: Outcome,
        status: Status,
        reason: str,
        load: LoadFacts,
        started_at: str,
        *,
        warm_up: bool,
    ) -> Process:
        facts = structs.replace(outcome.facts, load=load)
        if status != "ok":
            facts = structs.replace(facts, stderr_tail=tail(outcome.stderr))
        return Process(
            number=number,
            experiment=self.plan.experiments[0],
            subject=subject.name,
            parameters=cell,
            round=round,
            status=status,
            reason=reason,
            warm_up=warm_up,
            facts=facts,
            identity=outcome.identity,
            started_at=started_at,
        )


def _said(process: Process) -> str:
    words = (process.facts.stderr_tail or "").strip()
    return f"\n{words}" if words else ""


def server_executor(
    plan: Plan, environment: Mapping[str, str], experiments: list[Experiment], _: Watcher
) -> Executor:
    """The load is the only experiment."""
    [load] = experiments
    return ServerExecutor(plan, dict(environment), load)
