"""A program that is measured from outside, under one allocator after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, PROBE, native_part, system_peer
from heapwise.evidence.gate_memory import ENOUGH
from heapwise.evidence.identity import own_allocators
from heapwise.model import (
    PROCESSOR_TIME,
    ROUND,
    BuildPlace,
    GroupMemory,
    Identity,
    LauncherFacts,
    MemoryCurve,
    Peer,
    Process,
    ProcessFacts,
    Quantity,
    filled,
)
from heapwise.runner.campaign.executor import Sink, now
from heapwise.runner.campaign.steps import Step
from heapwise.runner.process.environment import of_child, padding
from heapwise.runner.process.launch import Launch, Outcome, launch, tail
from heapwise.runner.process.place import layout_of, standing, words_at
from heapwise.runner.process.process_status import Reference, judge
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import Work

LONGEST_S = 3600.0
"""The first process of a program may take this long if no --timeout is given."""

KIB = 1024
MOMENTS = 128
"""The most moments of a process's memory that are kept."""

PATIENCE, LEAST_S = 20.0, 30.0
"""Later processes may take this many times as long as the slowest of the baseline, or this many
seconds."""


@dataclass
class WholeProgram:
    """What is started, and what the baseline showed that it does.

    environment: of the children, secrets included. seed: of the run. folder: for the files of the
    launcher. system: the C library's path, if the program is linked with another malloc: preloaded,
    it takes the place of that one. longest_s: the limit of a process while no time of the baseline
    is known.
    """

    command: Sequence[str]
    environment: dict[str, str]
    seed: int
    folder: Path
    work: Work
    input_path: str | None = None
    working_directory: str = ""
    cpus: Sequence[int] = ()
    timeout_s: float = 0.0
    """0: by the times of the baseline."""

    system: str = ""
    longest_s: float = LONGEST_S
    idle_s: float = 0.0
    """How long it sleeps before it ends: not part of its time."""

    reference: Reference = field(default_factory=Reference)
    place: BuildPlace | None = None
    """None: it is run where it lies."""

    slowest_baseline_s: float = 0.0

    def __post_init__(self) -> None:
        native_part(PROBE)
        self._c_library = system_peer()

    def resume_from(self, process: Process, peer: Peer | None) -> None:
        """What an earlier invocation learned from a process of the baseline."""
        if process.status == "ok" and not process.facts.counting:
            self._learn_exempt(peer, process.identity)
            self._learn(process.facts)

    def measure(
        self,
        step: Step,
        number: int,
        stop: StopSwitch,
        record: Sink,
        *,
        sets_example: bool | None = None,
        before: Callable[[], None] | None = None,
        shown: Callable[[Step, Outcome], None] | None = None,
    ) -> Process:
        """One process under the allocator of the step, with a sample if it did the same work.

        sets_example: whether what it does is what all others have to do, while nothing is known;
        None: if it is of the baseline. before: what is done just before it, untimed. shown: gets
        its output.
        """
        started_at = now()
        self.work.begin()
        if before is not None:
            before()
        outcome = self.launch(
            step.subject.peer,
            number,
            stop,
            PROBE,
            self.command_of(step.round),
            keeps_output=shown is not None,
            layout=layout_of(self.place, step.round, control=step.subject.control),
        )
        if shown is not None and not outcome.interrupted:
            shown(step, outcome)
        if sets_example is None:
            sets_example = step.subject.baseline or step.subject.control
        if sets_example and not self.reference.known and not outcome.interrupted:
            self._learn_exempt(step.subject.peer, outcome.identity)
        status, reason = judge(outcome, step.subject.peer, self.reference)
        facts = outcome.facts
        if status == "ok":
            status, reason, files = self.work.judge(stop, self.timeout_s or self.longest_s)
            facts = structs.replace(facts, output_files=files or None)
        if status != "ok":
            facts = structs.replace(facts, stderr_tail=tail(outcome.stderr))
        process = step.process(number, started_at, status, reason, facts, outcome.identity)
        if status != "ok":
            return process
        if sets_example:
            self._learn(facts)
        record(
            step.sample(
                number, measured_values(outcome.facts, step.experiment.quantities, self.idle_s)
            )
        )
        return process

    def _learn_exempt(self, peer: Peer | None, identity: list[Identity]) -> None:
        """Executables that have another allocator although nothing is preloaded keep it."""
        if peer is None or not peer.path:
            self.reference.exempt |= own_allocators(identity, self._c_library)

    def _learn(self, facts: ProcessFacts) -> None:
        """From a process of the baseline that ended well."""
        if not self.reference.known:
            self.reference.take(facts)
            self.work.expected = facts.output_files or {}
        self.slowest_baseline_s = max(self.slowest_baseline_s, float(facts.wall_s or 0.0))

    def command_of(self, round: int) -> list[str]:
        """With the number of the round in the place of ``{round}``."""
        return [filled(word, {ROUND: round}) for word in self.command]

    def launch(
        self,
        peer: Peer | None,
        number: int,
        stop: StopSwitch,
        watcher: str,
        command: Sequence[str] = (),
        *,
        timeout_s: float = 0.0,
        keeps_output: bool = False,
        layout: str = "",
        watches_names: bool = False,
    ) -> Outcome:
        """Under the allocator, with the watcher inside; "" for none. timeout_s: 0 for that of a
        timed process. layout: as ``standing`` has it. watches_names: of a process that is not
        timed, whether the kernel tells which names it changes."""
        what = self.launch_of(
            peer, number, watcher, command, timeout_s=timeout_s, keeps_output=keeps_output
        )
        if watches_names:
            own_folder = self.working_directory if self.work.is_fresh else ""
            what = replace(what, watches_names=True, own_folder=own_folder)
        with standing(self.place, layout):
            return launch(what, self.folder, stop)

    def launch_of(
        self,
        peer: Peer | None,
        number: int,
        watcher: str,
        command: Sequence[str] = (),
        *,
        timeout_s: float = 0.0,
        keeps_output: bool = False,
        beside: bool = False,
    ) -> Launch:
        """What ``launch`` starts. beside: while other builds run, too."""
        environment = of_child(
            peer, self.environment, self._libraries(peer, watcher), padding(self.seed, number)
        )
        return Launch(
            words_at(self.place, command or self.command, beside=beside),
            environment,
            timeout_s or self._timeout_s,
            self.input_path,
            self.working_directory,
            self.cpus,
            keeps_output,
            MOMENTS if watcher == PROBE else 0,
        )

    def _libraries(self, peer: Peer | None, watcher: str) -> Iterable[str]:
        """The counter forwards to the allocator behind it; the probe must not stand before one."""
        library = peer.path if peer and peer.path else self.system
        observer = str(native_part(watcher)) if watcher else ""
        return (observer, library) if watcher == COUNTER else (library, observer)

    @property
    def _timeout_s(self) -> float:
        if self.timeout_s:
            return self.timeout_s
        known = self.slowest_baseline_s
        return max(LEAST_S, PATIENCE * known) if known else self.longest_s


def measured_values(
    facts: LauncherFacts, quantities: Iterable[Quantity], idle_s: float = 0.0
) -> dict[str, float]:
    """The quantities that the launcher sees, of those that an experiment declares. idle_s: of the
    program's end, in which it slept."""
    seen = {
        "wall_time": facts.wall_s,
        "cpu_time": facts.cpu_s,
        "peak_memory": peak_memory(facts),
        "wall": None if facts.wall_s is None else facts.wall_s - idle_s,
        "user": facts.user_s,
        "system": facts.system_s,
        "user_time": facts.user_s,
        "system_time": facts.system_s,
        "cpu": facts.cpu_s,
        PROCESSOR_TIME: facts.cpu_s,
        "peak_resident": facts.peak_rss_bytes,
        "minor_faults": facts.minor_faults,
        "major_faults": facts.major_faults,
        "voluntary_switches": facts.voluntary_switches,
        "involuntary_switches": facts.involuntary_switches,
        **memory_values(facts.memory, facts.peak_rss_bytes),
        **idle_values(facts, idle_s),
        **group_values(facts.group),
        "instructions": next(
            (c.value for c in facts.counters or [] if c.name == "instructions"), None
        ),
    }
    found = {quantity.name: seen.get(quantity.name) for quantity in quantities}
    return {name: float(value) for name, value in found.items() if value is not None}


def peak_memory(facts: LauncherFacts) -> int | None:
    """Bytes that the program had resident at once, at least: the kernel's mark of its largest
    process, or what all processes had at a look if there were several, or shared memory that none
    of them maps."""
    mark, curve = facts.peak_rss_bytes, facts.memory
    if curve is None or (max(curve.processes, default=0) < 2 and not curve.most_unmapped_kib):
        return mark
    return max(mark or 0, curve.peak_kib * KIB)


def memory_values(curve: MemoryCurve | None, mark: int | None) -> dict[str, float]:
    """Bytes, of the whole tree. Empty with fewer than ``ENOUGH`` looks: a program that runs for
    less than about a second has none of these quantities.

    mark: the kernel's, of the largest process, which the tree had at least.
    """
    if curve is None or curve.looks < ENOUGH:
        return {}
    return {
        "tree_peak": max(curve.peak_kib * KIB, mark or 0),
        "mean_memory": curve.mean_kib * KIB,
        "end_memory": curve.last_kib * KIB,
    }


def idle_values(facts: LauncherFacts, idle_s: float) -> dict[str, float]:
    """Bytes of the whole tree when the idle phase began, and when it ended. Empty without one, and
    without a look in each phase."""
    curve = facts.memory
    if not idle_s or curve is None or facts.wall_s is None:
        return {}
    before_ms = (facts.wall_s - idle_s) * 1000
    looks = zip(curve.at_ms, curve.proportional_kib, strict=True)
    busy = [kib for at_ms, kib in looks if at_ms <= before_ms]
    if not busy or curve.last_at_ms <= before_ms:
        return {}
    return {"end_memory": busy[-1] * KIB, "after_idle": curve.last_kib * KIB}


def group_values(group: GroupMemory | None) -> dict[str, float]:
    """Bytes, by the kernel. Empty if others were in the group too, or before Linux 5.19."""
    if group is None or not group.own or group.peak_kib is None:
        return {}
    return {"group_peak": group.peak_kib * KIB}
