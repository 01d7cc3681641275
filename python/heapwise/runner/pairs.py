"""A subject beside the baseline: one process of each at the same time, on one processor.

What is compared is the processor time of the two. Only the subject's process is a record of its
own; that of the baseline is in its facts.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

from msgspec import structs

from heapwise.catalog import PROBE
from heapwise.model import SIDE_BY_SIDE, Beside, Process, Sample, Status, Subject
from heapwise.runner.executor import Sink, now
from heapwise.runner.launch import Launch, Outcome, tail
from heapwise.runner.process_status import judge
from heapwise.runner.side_by_side import Together, run_together
from heapwise.runner.steps import Step
from heapwise.runner.stop_switch import StopSwitch
from heapwise.runner.whole_program import WholeProgram

LEAST_OVERLAP = 0.8
"""A pair counts if something ran beside the longer process for this share of its time."""

SHARING = 3.0
"""On one processor with another process, a process may take this many times as long."""


def measure_together(
    step: Step,
    baseline: Subject,
    program: WholeProgram,
    beside: WholeProgram,
    number: int,
    stop: StopSwitch,
    record: Sink,
) -> Process:
    """The subject of the step beside the baseline, with a sample if both did the same work.

    program, beside: what the two run, which is the same thing unless builds are compared.
    """
    started_at = now()
    chance = random.Random(f"{program.seed}/pair/{number}")
    cpu = chance.choice(list(program.cpus) or sorted(os.sched_getaffinity(0)))
    baseline_first = chance.random() < 0.5
    together = run_together(
        _launch(program, step.subject, number, step.round, cpu),
        _launch(beside, baseline, number, step.round, cpu),
        program.folder / "together",
        stop,
        second_starts=baseline_first,
    )
    mine, other = together.outcomes
    status, reason = _judged(step, baseline, program, beside, together)
    facts = structs.replace(mine.facts, beside=_facts(other, together, baseline_first))
    if status != "ok":
        facts = structs.replace(facts, stderr_tail=tail(mine.stderr))
    process = Process(
        number=number,
        experiment=step.experiment.id,
        subject=step.subject.name,
        parameters=step.parameters,
        round=step.round,
        status=status,
        reason=reason,
        facts=facts,
        identity=mine.identity,
        started_at=started_at,
    )
    if status == "ok":
        record(_sample(process, ratio=(mine.facts.cpu_s or 0.0) / (other.facts.cpu_s or 1.0)))
    return process


def _launch(program: WholeProgram, subject: Subject, number: int, round: int, cpu: int) -> Launch:
    what = program.launch_of(subject.peer, number, PROBE, program.command_of(round))
    return replace(what, cpus=[cpu], timeout_s=SHARING * what.timeout_s, memory_moments=0)


def _judged(
    step: Step, baseline: Subject, program: WholeProgram, beside: WholeProgram, together: Together
) -> tuple[Status, str]:
    mine, other = together.outcomes
    status, reason = judge(mine, step.subject.peer, program.reference)
    if status != "ok":
        return status, reason
    status, reason = judge(other, baseline.peer, beside.reference)
    if status != "ok":
        return "discarded", f"the baseline beside it: {reason}"
    if not mine.facts.cpu_s or not other.facts.cpu_s:
        return "discarded", "one of the two used no processor time"
    if together.overlap < LEAST_OVERLAP:
        return "discarded", f"the two ran beside each other for {together.overlap:.0%} of the time"
    return "ok", ""


def _facts(other: Outcome, together: Together, baseline_first: bool) -> Beside:
    return Beside(
        wall_s=other.facts.wall_s,
        cpu_s=other.facts.cpu_s,
        exit_code=other.facts.exit_code,
        output_hash=other.facts.output_hash,
        overlap=together.overlap,
        fillers=together.fillers,
        started_first=baseline_first,
    )


def _sample(process: Process, ratio: float) -> Sample:
    return Sample(
        process=process.number,
        experiment=process.experiment,
        subject=process.subject,
        parameters=process.parameters,
        round=process.round,
        repeat=0,
        warm_up=False,
        values={SIDE_BY_SIDE: ratio},
    )
