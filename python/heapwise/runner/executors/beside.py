"""Subjects beside the baseline: a process of each at the same time, on one processor.

What is compared is their processor time. Memory and page faults count, too: another process beside
one does not change them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from heapwise.catalog import PROBE
from heapwise.machine.free_memory import available_bytes
from heapwise.model import (
    FAILED_BESIDE,
    SIDE_BY_SIDE,
    Beside,
    Peer,
    Process,
    Sample,
    Status,
    Subject,
)
from heapwise.processors import usable_processors
from heapwise.runner.campaign.executor import Sink, now
from heapwise.runner.campaign.steps import Step
from heapwise.runner.executors.whole_program import WholeProgram, measured_values
from heapwise.runner.process.launch import Launch, Outcome, tail
from heapwise.runner.process.process_status import Reference, judge
from heapwise.runner.process.side_by_side import SideBySide, Together
from heapwise.runner.process.stop_switch import StopSwitch

LEAST_OVERLAP = 0.8
"""A process counts if all others ran beside it for this share of its time."""

UNDISTURBED = ("peak_memory", "minor_faults", "major_faults", "instructions")


@dataclass(frozen=True)
class Member:
    """One of those that run at once. number: of its process. worked: a process that ran by itself
    did its work."""

    subject: Subject
    program: WholeProgram
    number: int
    worked: bool = True


def measure_together(
    groups: SideBySide,
    step: Step,
    baseline: Member,
    others: Sequence[Member],
    stop: StopSwitch,
    record: Sink,
) -> Process:
    """All of them at once. Returns the process of the baseline; the others are recorded, and a
    sample of each that did the same work."""
    started_at = now()
    members = [baseline, *others]
    chance = random.Random(f"{baseline.program.seed}/together/{baseline.number}")
    cpu = groups.choose(list(baseline.program.cpus) or usable_processors(), chance)
    order = chance.sample(range(len(members)), len(members))
    # One of them is prepared first, too: a program of several processes that always was took 0.5 %
    # more processor time than those behind it.
    prepared = chance.sample(members, len(members))
    folder = baseline.program.folder / "together"
    if available_bytes() < 2 * groups.peak_bytes * (len(members) + groups.left):
        groups.finish(stop)
    launches = [_launch(member, step, cpu, len(members)) for member in prepared]
    ended = groups.run(launches, folder, stop, order, step.runs)
    places = [prepared.index(member) for member in members]
    found = [
        _process(
            step,
            member,
            ended[place],
            started_at,
            Beside(
                baseline=baseline.number,
                processes=len(members),
                place=order.index(place),
                prepared=place,
                overlap=ended[place].overlap,
                fillers=ended[place].fillers,
                runs=step.runs,
                cpu_s=_processor_times(ended[place]),
            ),
        )
        for member, place in zip(members, places, strict=True)
    ]
    base = found[0]
    for member, process in zip(members, found, strict=True):
        if process is not base and process.status == "ok" and base.status != "ok":
            process = replace(
                process, status="discarded", reason=f"the baseline beside it: {base.reason}"
            )
        if process.status == "ok":
            record(_sample(replace(step, subject=member.subject), process, base))
        if process is not base:
            record(process)
    return base


def _launch(member: Member, step: Step, cpu: int, processes: int) -> Launch:
    program = member.program
    what = program.launch_of(
        member.subject.peer,
        member.number,
        PROBE,
        program.command_of(step.round),
        beside=True,
    )
    timeout_s = 2 * processes * what.timeout_s
    return replace(
        what,
        cpus=[cpu],
        timeout_s=timeout_s,
        slice_s=step.slice_s,
        is_fresh=program.work.is_fresh,
    )


def _process(
    step: Step, member: Member, ended: Together, started_at: str, beside: Beside
) -> Process:
    status, reason, outcome = judged_together(ended, member.subject.peer, member.program.reference)
    facts = structs.replace(outcome.facts, beside=beside)
    if status not in ("ok", "discarded"):
        facts = structs.replace(facts, stderr_tail=tail(outcome.stderr))
    if status not in ("ok", "discarded", "interrupted") and member.worked:
        # Alone it did its work: what failed is to run at once, which nobody asked of it.
        status, reason = "discarded", f"{FAILED_BESIDE}{reason}"
    return replace(step, subject=member.subject).process(
        member.number, started_at, status, reason, facts, outcome.identity
    )


def judged_together(
    ended: Together, peer: Peer | None, reference: Reference
) -> tuple[Status, str, Outcome]:
    """What became of all runs that count, and the first that was not in order, or the first."""
    for outcome in (ended.outcome, *ended.later):
        status, reason = judge(outcome, peer, reference)
        if status != "ok":
            return status, reason, outcome
    if not _processor_times(ended):
        return "discarded", "it used no processor time", ended.outcome
    if ended.overlap < LEAST_OVERLAP:
        reason = f"the others ran beside it for {ended.overlap:.0%} of its time"
        return "discarded", reason, ended.outcome
    return "ok", "", ended.outcome


def _processor_times(ended: Together) -> list[float] | None:
    """The processor time of each run that counts; None if one is not known, or 0."""
    times = [outcome.facts.cpu_s for outcome in (ended.outcome, *ended.later)]
    return [each for each in times if each] if all(times) else None


def _sample(step: Step, process: Process, base: Process) -> Sample:
    """The processor time as a ratio to that of the baseline."""
    quantities = [q for q in step.experiment.quantities if q.name in UNDISTURBED]
    ratio = (process.facts.cpu_s_beside or 0.0) / (base.facts.cpu_s_beside or 1.0)
    values = {SIDE_BY_SIDE: ratio, **measured_values(process.facts, quantities)}
    return step.sample(process.number, values)
