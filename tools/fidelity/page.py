"""The table of how well replays tell what `compare` finds, with the aims."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from fidelity.model import BASELINE, Pair, Results, pairs
from simulation.count import Count, count

AGREE_AIM, PEAK_AIM = 0.90, 0.10
PROGRAMS_AIM, ALLOCATORS_AIM = 12, 6
QUIET_LOAD = 0.5

Row = tuple[str, str, str, bool]


def agreement(found: list[Pair]) -> Count | None:
    """Of the pairs where `compare` is sure; None without any. Pairs of one program depend on each
    other."""
    by_program: dict[str, list[bool]] = defaultdict(list)
    for pair in found:
        if pair.is_sure:
            by_program[pair.program].append(pair.agrees)
    return count(list(by_program.values())) if by_program else None


def peak_error(found: list[Pair]) -> float | None:
    """The median of all pairs, without sign."""
    errors = [abs(pair.peak_error) for pair in found if pair.peak_error is not None]
    return statistics.median(errors) if errors else None


def rows(results: Results) -> Iterator[Row]:
    """Quantity, aim, figure, and whether it is met."""
    found = pairs(results)
    programs = len({pair.program for pair in found})
    allocators = len({pair.allocator for pair in found}) + 1
    yield (
        "programs and allocators",
        f"{PROGRAMS_AIM} and {ALLOCATORS_AIM}",
        f"{programs} and {allocators if found else 0}",
        programs >= PROGRAMS_AIM and allocators >= ALLOCATORS_AIM,
    )
    agreed = agreement(found)
    if agreed is not None:
        low, high = agreed.interval()
        yield (
            "replays that have the sign of `compare`, where `compare` is sure",
            f"at least {AGREE_AIM:.0%}",
            f"{agreed.hits} of {agreed.rows}, {agreed.rate:.0%} (95 % CI {low:.0%} to {high:.0%})",
            agreed.rate >= AGREE_AIM,
        )
    error = peak_error(found)
    if error is not None:
        yield (
            "error of the predicted peak memory, median",
            f"at most {PEAK_AIM:.0%}",
            f"{error:.1%}",
            error <= PEAK_AIM,
        )
    exact = [one.replayed.trust for one in results.programs.values() if one.replayed]
    if exact:
        good = exact.count("pass")
        yield (
            "replays with the calls, bytes and peak of the trace (V24)",
            "all",
            f"{good} of {len(exact)}",
            good == len(exact),
        )


def page(results: Results) -> str:
    """As Markdown."""
    lines = [
        "<!-- Made by `python -m fidelity --page FILE`; do not edit. -->",
        "",
        "# Does a replay tell what the program does?",
        "",
        f"On {results.machine}, {results.processors} processors. Each program was recorded "
        "once, under glibc. `heapwise replay` played the trace under each allocator, and "
        "`heapwise compare` ran the program itself.",
        "",
        *_warning(results),
        "| quantity | aim | here | met |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {name} | {aim} | {here} | {'yes' if met else 'no'} |"
        for name, aim, here, met in rows(results)
    ]
    if found := pairs(results):
        same = sum(pair.agrees for pair in found)
        lines += [
            "",
            f"Of all {len(found)} pairs, sure or not, {same} have the sign of `compare`: "
            "without an interval that is a hint, and no evidence.",
        ]
    lines += [
        "",
        "## Pairs",
        "",
        f"Changes are against {BASELINE}; above 0 is more. The predicted "
        "change of the time is the difference of a call, times the calls, over the program's "
        "time: processor time for programs of one thread, else wall time. The predicted peak "
        "is the program's under glibc, with the difference between the replays and that "
        'between two programs that do nothing. "sure": the interval tells the allocator '
        "from glibc.",
        "",
        "| program | allocator | time of the program | predicted by the replay | sign | "
        "error of the peak |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_pair_line(pair) for pair in pairs(results)]
    lines += _several_processes(results)
    refused = [f"- {name}: {one.refused}." for name, one in results.programs.items() if one.refused]
    if refused:
        lines += ["", "## Not judged", "", *refused]
    return "\n".join([*lines, ""])


def _several_processes(results: Results) -> list[str]:
    """What was played of programs that start others."""
    played = [
        (name, one.replayed)
        for name, one in results.programs.items()
        if one.replayed and one.replayed.processes > 1
    ]
    if not played:
        return []
    return [
        "",
        "## Programs of several processes",
        "",
        "Only the trace of the busiest process is "
        "played, and its peak memory is not compared with that of the program.",
        "",
        *(
            f"- {name}: {one.share:.1%} of the events of {one.processes} processes."
            for name, one in played
        ),
    ]


def _warning(results: Results) -> list[str]:
    busiest = max((one.load for one in results.programs.values()), default=0.0)
    if busiest <= QUIET_LOAD:
        return []
    return [
        f"The load average was up to {busiest} when a program began. The programs measured "
        "before it count too; other work would make fewer pairs sure.",
        "",
    ]


def _pair_line(pair: Pair) -> str:
    sign = "-"
    if pair.is_sure:
        sign = "same" if pair.agrees else "**other**"
    error = "-" if pair.peak_error is None else f"{pair.peak_error:+.1%}"
    return (
        f"| {pair.program} | {pair.allocator} | {_change(pair.found, pair.is_sure)} "
        f"| {_change(pair.predicted, pair.replay_is_sure)} | {sign} | {error} |"
    )


def _change(value: float, is_sure: bool) -> str:
    return f"{value:+.1%}, {'sure' if is_sure else 'not sure'}"
