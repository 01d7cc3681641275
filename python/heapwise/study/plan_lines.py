"""What will be run, in one line, before it is run."""

from __future__ import annotations

from math import prod

from heapwise.model import Plan
from heapwise.runner import Prepared
from heapwise.runner.campaign.together import is_of_time, obstacles
from heapwise.study.round_costs import KnownCosts, estimate_s, processes_of
from heapwise.wording.durations import cost, show_duration, show_limit
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent


def plan_line(prepared: Prepared, known: KnownCosts | None = None) -> str:
    """known: experiment -> seconds of one of its processes in earlier runs."""
    if prepared.plan.traits.whole_programs:
        return _of_comparison(prepared.plan)
    return _of_experiments(prepared, known or {})


def _of_comparison(plan: Plan) -> str:
    each = len(plan.subjects) * prod(map(len, plan.parameters.values()))
    processes = counted(each, "process", "processes")
    warm = f"{plan.warm_up_rounds} warm-up, then " if plan.warm_up_rounds else ""
    if plan.max_rounds:
        return (
            f"{warm}{counted(plan.max_rounds, 'round')} of {processes} in random order, seed "
            f"{plan.seed}"
        )
    until = (
        "until each row is told apart from the baseline or known within "
        f"±{percent(plan.precision)}, or the time is over ({show_limit(plan.time_s)})"
    )
    # A time that the user set ends the run, however many rounds there are.
    least = counted(plan.min_rounds, "round")
    rounds = "rounds" if plan.options.time_given else f"at least {least}"
    order = f"in random order{together_words(plan)}"
    return f"{warm}{rounds} of {processes} {order}, {until}, seed {plan.seed}"


def together_words(plan: Plan) -> str:
    """How many processes may run at once, which a user of the machine has to know."""
    chosen = plan.options.side_by_side
    if chosen is False or not is_of_time(plan) or (obstacles(plan) and not chosen):
        return ""
    return ", side by side on one processor" if chosen else ", or side by side if it is noisy here"


def _of_experiments(prepared: Prepared, known: KnownCosts) -> str:
    plan = prepared.plan
    number = len(prepared.experiments)
    measured = sum(experiment.id in known for experiment in prepared.experiments)
    seconds = cost(estimate_s(prepared, known))
    about = (
        f"{seconds}, by earlier runs"
        if measured == number
        else f"very roughly {seconds.removeprefix('about ')}"
    )
    return (
        f"{counted(number, 'experiment')}, "
        f"{counted(plan.max_rounds, 'round')}, "
        f"{processes_of(prepared)} processes in random order{_loads(plan)}, {about}{_limit(plan)}, "
        f"seed {plan.seed}"
    )


def _loads(plan: Plan) -> str:
    server = plan.options.server
    if server is None:
        return ""
    beside = f", and in each round two at once for {server.beside_s:g} s" if server.beside_s else ""
    return f", each {server.load_s:g} s under load and {server.idle_s:g} s idle{beside}"


def _limit(plan: Plan) -> str:
    """``--time``, which a round that has begun may exceed."""
    if not plan.time_s:
        return ""
    return f"; no round is begun after {show_duration(plan.time_s)}"
