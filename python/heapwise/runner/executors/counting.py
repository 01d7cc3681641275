"""Processes that are not timed: the calls that arrive at malloc are counted in them (V3, V4)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from heapwise.model import Calls, CountLine, Experiment, Plan, ProcessFacts
from heapwise.runner.campaign.steps import Step, cells, subjects_of

COUNTING_ROUND = -1


def counting_steps(plan: Plan, experiments: Sequence[Experiment]) -> list[Step]:
    """One for each subject that goes through malloc, in the experiment's first cell.

    The system's malloc stands for all peers where it is there: a call that the compiler removed
    is missing in the binary, whichever library would have answered it.
    """
    found: list[Step] = []
    for experiment in experiments:
        if experiment.is_of_programs or experiment.programs:  # nothing of them is compiled here
            continue
        cell = cells(experiment, plan)[0]
        through_malloc = sorted(
            (s for s in subjects_of(experiment, plan) if s.peer is not None and not s.control),
            key=lambda subject: bool(subject.peer and subject.peer.path),
        )
        first = {subject.parts.inner: subject for subject in reversed(through_malloc)}
        found += [
            Step(experiment, subject, cell, COUNTING_ROUND, warm_up=True)
            for subject in first.values()
        ]
    return found


def with_totals(facts: ProcessFacts, counts: Sequence[CountLine]) -> ProcessFacts:
    """The facts of a counting process, with the lines of all processes of its tree added up."""
    facts = replace(facts, counting=True)
    if not counts:
        return facts
    sizes = [line.sizes for line in counts if line.sizes is not None]
    return replace(
        facts,
        calls=Calls(
            **{
                kind: sum(getattr(line.calls, kind) for line in counts)
                for kind in Calls.__struct_fields__
            }
        ),
        counted_wall_s=max(line.wall_s for line in counts),
        bytes_requested=sum(line.bytes_requested for line in counts),
        peak_live_bytes=max(
            (line.peak_live for line in counts if line.peak_live is not None), default=None
        ),
        sizes=[sum(column) for column in zip(*sizes, strict=False)],
    )
