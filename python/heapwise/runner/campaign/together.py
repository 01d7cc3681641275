"""Whether the rest of a comparison is measured side by side with the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import median, quantiles

from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured, written_elsewhere
from heapwise.evidence.shared_names import shared_names
from heapwise.machine.free_memory import available_bytes
from heapwise.model import FAILED_BESIDE, Plan, Process
from heapwise.processors import usable_processors
from heapwise.runner.campaign.steps import MOST_BESIDE, cells
from heapwise.stats.claims.limits import FIRST_LOOK
from heapwise.wording.metrics import TIMES

BUSY, EARLY, BEGINNING = 0.5, 3, 1 / 6
"""If something waited for a processor for half of the time, these rounds of separate processes, or
this share of the time, are enough to begin with. On any machine both together are: few more rounds
would fit into the time."""

WAITS = 2.0
"""A program that takes twice its processor time on a quiet machine mostly waits: then processor
time is not what its users wait for."""

FINE = 0.005
"""Separate processes are good enough if they will bring every interval within this of 0."""

FINE_SHARE = 0.5
"""The same of a gate, as a share of its limit: the intervals of its looks are up to 1.4 times as
wide as that of 95 %, and the change may be as far from 0 as half of that by chance."""

LATEST = 2 * FIRST_LOOK
"""A gate chooses before this round. A regression that separate processes show is confirmed in this
round at the earliest, so they and the pairs do not share the false alarms that are allowed."""

ONE_PROCESSOR = 1.1
"""A program whose processor time is up to this many times its time runs on one processor."""

SLICES, SHORTEST_S, LONGEST_S = 40, 0.003, 0.02
"""How often a process has the processor, about, and for how long at least and at most. Rare changes
spoil the caches less, frequent ones spread what disturbs the machine over all
(docs/design/statistics.md).
"""

MOST_RUNS, ENOUGH_GROUPS = 4, 60
"""A program runs up to this often in a group, one run after the other, as long as this many groups
fit into the time. With one run, a planted 8.6 % of sqlite3 was found as 7.4 %, with four as 8.7 %
(docs/design/statistics.md)."""

SHORTEST_RUN_S = 0.02
"""Processor time of a program that runs several times in a group. Between runs of shorter ones too
much time would pass on a busy machine, in which they are not beside the others."""

LEAST_ROUNDS = 3
"""Fewer rounds side by side have no interval. Three of twelve subjects tell 10 % in 93 % of
simulated runs (``tools/simulate --aims twelve``)."""

COST, COST_OF_ONE = 1.1, 2.0
"""A round takes about this many times the processor time of its processes, if each took as long as
the slowest: the others are fillers until that one ends. On several processors, and on one, where no
group runs while the fillers of another one end. The upper quartile stands for the slowest, which
may have been disturbed."""

DISTURBED = 1.5
"""A busy host makes a process this many times as slow. A subject that is slower each time is
slow."""

LAST_GROUP = 0.1
"""A comparison may take this share longer than its time: fewer than three groups say nothing."""

FILLERS = 0.8
"""A last group takes this share of a run longer: its fillers are waited for."""


def obstacles(plan: Plan) -> list[str]:
    """Why two processes of the program may not run at once, in words."""
    options = plan.options
    return [
        words
        for words, holds in {
            "commands run before or after each process": any(
                build.prepare or build.conclude or build.cleanup for build in plan.builds
            ),
            "it writes files that are compared": bool(options.output_files),
            "a check runs after each process": bool(options.check),
            "its builds have one path in turn": not all(
                place.beside for place in plan.places.values()
            ),
        }.items()
        if holds
    ]


def is_of_time(plan: Plan) -> bool:
    """Whether the run is a comparison, or a gate with a limit of time."""
    if plan.traits.ends_by == "limits":
        return bool(TIMES.keys() & plan.limits.keys())
    return plan.traits.ends_by == "intervals"


def may_choose(plan: Plan, rounds_done: int, elapsed_s: float, evidence: Evidence) -> bool:
    """Whether enough is known of separate processes: their least number of rounds, or one if the
    user asked for side by side, or if that number will not fit into the user's time. If only few
    more would fit, three rounds. On a busy machine, where they take long and tell little, three
    rounds or a sixth of the time."""
    if plan.limits and rounds_done >= LATEST:
        return False
    if rounds_done == 0 or rounds_done >= plan.min_rounds or plan.options.side_by_side:
        return rounds_done > 0
    if plan.options.time_given and plan.traits.ends_by == "intervals":
        rest = (plan.time_s - elapsed_s) / max(_alone_s(plan, evidence), 1e-9)
        if rounds_done + rest < plan.min_rounds:
            return True
    conditions = rounds_done >= EARLY, has_begun(plan, elapsed_s)
    return all(conditions) or (any(conditions) and pressure(evidence) > BUSY)


def has_begun(plan: Plan, elapsed_s: float) -> bool:
    """Whether a sixth of the time is over."""
    return bool(plan.time_s) and elapsed_s >= plan.time_s * BEGINNING


def may_leave(plan: Plan, elapsed_s: float, evidence: Evidence) -> bool:
    """Whether separate processes may end before the first round that counts is whole. On a busy
    machine that round may take longer than the time."""
    return has_begun(plan, elapsed_s) and pressure(evidence) > BUSY


def pressure(evidence: Evidence) -> float:
    """That of the processes that count (``pressure_of``)."""
    return pressure_of(measured(evidence.stored))


def pressure_of(processes: Iterable[Process]) -> float:
    """The share of a typical process's time in which something on the machine waited for a
    processor, by the kernel (/proc/pressure/cpu); 0 if it does not say."""
    found = [
        process.facts.psi_cpu_us * 1e-6 / process.facts.wall_s
        for process in processes
        if process.facts.psi_cpu_us is not None and process.facts.wall_s
    ]
    return median(found) if found else 0.0


def stretch(evidence: Evidence) -> float:
    """How many times its processor time a typical process took; at least 1."""
    found = [
        process.facts.wall_s / process.facts.cpu_s
        for process in measured(evidence.stored)
        if process.facts.cpu_s and process.facts.wall_s
    ]
    return max(1.0, median(found)) if found else 1.0


def most_beside(evidence: Evidence) -> int:
    """Subjects that may run at once beside a baseline: all together need at most half of the memory
    that is free now. 0: not even one."""
    peaks = [
        process.facts.peak_rss_bytes
        for process in measured(evidence.stored)
        if process.facts.peak_rss_bytes
    ]
    if not peaks:
        return 0
    return min(MOST_BESIDE, int(available_bytes() / 2 / max(peaks)) - 1)


def slice_of(evidence: Evidence) -> float:
    """For how long each of those that run at once has the processor before the next, in s."""
    found = [process.facts.cpu_s or 0.0 for process in measured(evidence.stored)]
    return min(max(median(found) / SLICES, SHORTEST_S), LONGEST_S) if found else SHORTEST_S


def runs_of(plan: Plan, evidence: Evidence, elapsed_s: float) -> int:
    """How often each program runs in a group. A gate looks at its rounds one by one, and ends as
    early as it can: there it is once."""
    found = [process.facts.cpu_s or 0.0 for process in measured(evidence.stored)]
    if plan.traits.ends_by != "intervals" or not plan.time_s:
        return 1
    if not found or median(found) < SHORTEST_RUN_S:
        return 1
    round_s = _round_s(plan, evidence)
    fit = (plan.time_s - elapsed_s) / (ENOUGH_GROUPS * round_s)
    return max(1, min(MOST_RUNS, int(fit)))


def pays(
    plan: Plan, evidence: Evidence, rounds_done: int, elapsed_s: float, width: float | None
) -> bool:
    """Whether pairs from now on will tell more than separate processes.

    rounds_done: of separate processes; if there is none, and none will fit into the time, one round
    of pairs is more. elapsed_s: of the run so far. width: half of the widest
    interval of the undecided rows, relative; None if one is unknown. Separate processes narrow it
    with the root of their rounds, and as Student's t does.
    """
    options = plan.options
    if not is_of_time(plan) or options.side_by_side is False or obstacles(plan):
        return False
    if options.side_by_side:
        return True
    if plan.max_rounds or not plan.time_s or elapsed_s <= 0 or not _runs_on_one(evidence):
        return False
    if stretch(evidence) > WAITS and pressure(evidence) <= BUSY:
        return False
    round_s = _round_s(plan, evidence)
    alone_fits = rounds_done or _alone_s(plan, evidence) <= plan.time_s - elapsed_s
    last_s = FILLERS * round_s / _groups(plan, evidence)
    rest_s = plan.time_s - elapsed_s
    if alone_fits and not plan.limits:  # the last group begins in time, and may end soon after it
        rest_s = min(rest_s + round_s, rest_s + LAST_GROUP * plan.time_s - last_s)
    in_time = rest_s / max(round_s, 1e-9)
    in_any_case = 0 if options.time_given else plan.min_rounds - rounds_done
    least = FIRST_LOOK if plan.limits else LEAST_ROUNDS if alone_fits else 1
    if max(in_time, in_any_case) < least:
        return False
    return width is None or width * _narrowing(rounds_done, elapsed_s / plan.time_s) > _fine(plan)


def _fine(plan: Plan) -> float:
    limits = [float(plan.limits[metric]) for metric in TIMES.keys() & plan.limits.keys()]
    return FINE_SHARE * min(limits) if limits else FINE


def _narrowing(rounds: int, share: float) -> float:
    """By how much more rounds at the same pace narrow an interval. share: of the time so far."""
    from heapwise.stats.basics.special import stdtrit

    if share >= 1 or rounds < LEAST_ROUNDS:
        return 1.0
    at_the_end = stdtrit(rounds / share - 1, 0.975) / stdtrit(rounds - 1, 0.975)
    return float(at_the_end) * sqrt(share)


def has_to_ask(plan: Plan, evidence: Evidence) -> bool:
    """Whether two processes might spoil each other's files, and the user did not ask for it. If
    nothing is known of the names that they change, every byte to anything but the output counts."""
    if plan.options.side_by_side:
        return False
    shared = shared_names(evidence.stored)
    if shared.missing and not shared.names:
        return written_elsewhere(evidence.stored) != 0
    return not shared.none


def is_in_vain(together: Sequence[Process], round: int) -> bool:
    """Whether the rounds side by side end here: the program may need a port, a lock or a file for
    itself, or none of any round counts.

    together: all processes that ran beside others. In a round that failed, none did its work and
    one failed. If an earlier round counts, the program can run beside itself, so only some of them
    in a row are in vain: all others of a group are lost with the baseline. A round whose processes
    ran beside each other for too short a time is only lost.
    """
    rounds: dict[int, list[Process]] = {}
    for process in together:
        rounds.setdefault(process.round, []).append(process)
    if round not in rounds or _counts(rounds[round]):
        return False
    if any(map(_counts, rounds.values())):
        last = sorted(rounds)[-LEAST_ROUNDS:]
        return all(_has_failed(rounds[number]) for number in last)
    return _has_failed(rounds[round]) or len(rounds) >= LEAST_ROUNDS


def _counts(processes: Sequence[Process]) -> bool:
    return any(process.status == "ok" for process in processes)


def _has_failed(processes: Sequence[Process]) -> bool:
    failed = any(FAILED_BESIDE in process.reason for process in processes)
    return failed and not _counts(processes)


def may_ask(plan: Plan) -> bool:
    """Whether it matters, for side by side, which names the program changes."""
    options = plan.options
    return (
        is_of_time(plan)
        and options.side_by_side is None
        and not plan.max_rounds
        and not obstacles(plan)
    )


def _runs_on_one(evidence: Evidence) -> bool:
    shares = [
        process.facts.cpu_s / process.facts.wall_s
        for process in measured(evidence.stored)
        if process.facts.cpu_s and process.facts.wall_s
    ]
    return bool(shares) and max(shares) <= ONE_PROCESSOR


def _round_s(plan: Plan, evidence: Evidence) -> float:
    """About what a round side by side takes. A group shares a processor with whatever else runs. A
    subject that was not measured yet takes as long as the others."""
    last = {_row_of(each): each.facts.cpu_s or 0.0 for each in measured(evidence.stored)}
    if not last:
        return 0.0
    least = dict(last)
    for each in evidence.stored.processes:
        row, cpu_s = _row_of(each), each.facts.cpu_s
        if row in least and cpu_s and each.status == "ok" and not each.facts.counting:
            least[row] = min(least[row], cpu_s)
    setups = dict.fromkeys(setup for setup, _ in last)
    slowest = [
        max(
            _upper_quartile([cpu_s for row, cpu_s in last.items() if row[0] == setup]),
            max(cpu_s for row, cpu_s in least.items() if row[0] == setup) / DISTURBED,
        )
        for setup in setups
    ]
    group = max(2, min(len(plan.subjects), most_beside(evidence) + 1))
    others = stretch(evidence) - 1
    cost = COST if len(plan.options.cpus or usable_processors()) > 1 else COST_OF_ONE
    return cost * _rows(plan, evidence) * sum(slowest) / len(slowest) * (1 + others / group)


def _upper_quartile(values: Sequence[float]) -> float:
    return quantiles(values, n=4, method="inclusive")[2] if len(values) > 1 else values[0]


def _row_of(process: Process) -> tuple[object, str]:
    return process.setup, process.subject


def _groups(plan: Plan, evidence: Evidence) -> int:
    """How many a round has; at least 1."""
    most = max(1, most_beside(evidence))
    setups = _rows(plan, evidence) // len(plan.subjects)
    return max(1, setups * -(-(len(plan.subjects) - 1) // most))


def _alone_s(plan: Plan, evidence: Evidence) -> float:
    """About what a round of separate processes takes."""
    found = [process.facts.wall_s or 0.0 for process in measured(evidence.stored)]
    return _rows(plan, evidence) * median(found) if found else 0.0


def _rows(plan: Plan, evidence: Evidence) -> int:
    """Processes of a round."""
    experiments = evidence.stored.run.experiments
    return sum(len(cells(experiment, plan)) for experiment in experiments) * len(plan.subjects)


def demand_possible(plan: Plan) -> None:
    """Problem E003 if the user asked for pairs, and something stands in the way."""
    found = obstacles(plan) if plan.options.side_by_side else []
    if found:
        raise Problem(
            "E003",
            f"--side-by-side: two processes of the program cannot run at once, since "
            f"{' and '.join(found)}",
            do="leave --side-by-side out, or what stands in its way",
        )
