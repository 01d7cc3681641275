"""From the limits of a gate to a plan: two builds are compared until all limits are decided."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from heapwise.catalog import read_elf
from heapwise.errors import Problem
from heapwise.evidence.judged_limits import COUNTED, OF_MALLOC, TIMED
from heapwise.machine import read_machine
from heapwise.model import BuildPlace, Experiment, GateOptions, Quantity, Relinked
from heapwise.runner.campaign.together import demand_possible
from heapwise.runner.plan.compare_plan import CompareRequest, Prepared, prepare_compare
from heapwise.runner.plan.preflight import IMPOSSIBLE, obstacle
from heapwise.stats.claims.limits import ALL_LOOKS, FIRST_LOOK

INSTRUCTIONS = Quantity(
    "instructions",
    "count",
    "lower",
    "executed by the process and its children, by the processor's counter",
)

VALGRIND = "valgrind"

OF_GO = "E023"
"""The obstacle that a program has a heap of its own beside malloc."""

MOST_ROUNDS = 2 * ALL_LOOKS[-1]
"""Both stages of a gate may need their last look."""


@dataclass(frozen=True)
class GateRequest:
    """compare: its first build is the base, its second the new one."""

    compare: CompareRequest
    limits: Mapping[str, float]
    strict: bool = False
    relinked: Relinked | None = None


def prepare_gate(request: GateRequest, environment: Mapping[str, str]) -> Prepared:
    """Problems: those of ``prepare_compare``, and E058 without a way to count instructions."""
    prepared = prepare_compare(request.compare, environment)
    by_processor = _instructions(request)
    timed = [
        metric
        for metric in request.limits
        if metric in TIMED and (metric not in COUNTED or by_processor)
    ]
    options = replace(
        prepared.plan.options,
        time_given=True,
        most_rounds=MOST_ROUNDS,
        gate=GateOptions(
            dict(request.limits),
            request.strict,
            by_processor,
            uncountable=_uncountable(request, prepared),
            relinked=request.relinked,
        ),
    )
    plan = replace(prepared.plan, options=options, precision=0.0, min_rounds=FIRST_LOOK)
    if not timed:
        plan = replace(plan, min_rounds=1, max_rounds=1, warm_up_rounds=0)
    [experiment] = prepared.experiments
    return replace(
        prepared, plan=plan, experiments=[_counting(experiment) if by_processor else experiment]
    )


def placed(prepared: Prepared, places: Sequence[BuildPlace], uneven: str) -> Prepared:
    """The gate with the places of the base and of the new build; without any, both are run where
    they lie. uneven: why their paths have unequal lengths all the same."""
    options = prepared.plan.options
    assert options.gate is not None
    named = dict(zip((build.name for build in prepared.plan.builds), places, strict=False))
    gate = structs.replace(options.gate, places=named, uneven=uneven)
    plan = replace(prepared.plan, options=replace(options, gate=gate))
    demand_possible(plan)
    return replace(prepared, plan=plan)


def _uncountable(request: GateRequest, prepared: Prepared) -> str:
    """Why the counter cannot see the calls of malloc of one of the programs; "" if it can, or if no
    limit is of them."""
    if not OF_MALLOC & request.limits.keys():
        return ""
    for one in prepared.examined:
        found = obstacle(one.build.name, one.found.image, read_elf(one.found.image, symbols=True))
        if found is not None and found.id in {*IMPOSSIBLE, OF_GO}:
            return found.what
    return ""


def _instructions(request: GateRequest) -> bool:
    """Whether the processor counts them. Problem E058 if nothing can."""
    if "instructions" not in request.limits:
        return False
    reason = read_machine().unavailable.get("hardware_counters", "")
    if reason and shutil.which(VALGRIND) is None:
        raise Problem(
            "E058", f"instructions cannot be counted here: {reason}, and valgrind is not installed"
        )
    return not reason


def _counting(experiment: Experiment) -> Experiment:
    return replace(experiment, quantities=[*experiment.quantities, INSTRUCTIONS])
