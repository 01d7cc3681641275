"""The table of what was planted, what the advice found, and what the changed program gained."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from other_work import QUIET
from planted_sites.measure import Judged
from planted_sites.programs import PROGRAMS, Planted, is_planted

RIGHT_AIM, GAIN_AIM, SLOWER = 9, 0.30, 1.01

Row = tuple[str, str, str, bool]


class Results(msgspec.Struct):
    """Of one machine."""

    machine: str = ""
    processors: int = 0
    programs: dict[str, Judged] = {}


def is_right(program: Planted, one: Judged) -> bool:
    """Whether the first advice is the planted one; of nothing that no gain is claimed."""
    return one.found.policy == program.policy and (
        not program.policy or is_planted(one.found.place, program)
    )


def gain_ratio(one: Judged) -> float | None:
    """Predicted over gained; None if nothing was advised or nothing gained."""
    return one.found.seconds / one.gained_s if one.found.policy and one.gained_s > 0 else None


def slows(one: Judged) -> bool:
    """Whether following the advice takes more than 1 % more time, for certain."""
    return bool(one.found.policy) and one.low is not None and one.low > SLOWER


def rows(results: Results) -> Iterator[Row]:
    """Quantity, aim, figure, and whether it is met."""
    judged = [
        (program, results.programs[program.name])
        for program in PROGRAMS
        if program.name in results.programs
    ]
    right = sum(is_right(*each) for each in judged)
    yield (
        "the right site first, or nothing where nothing is to gain",
        f"at least {RIGHT_AIM} of {len(PROGRAMS)}",
        f"{right} of {len(judged)}",
        right >= RIGHT_AIM,
    )
    ratios = [ratio for _, one in judged if (ratio := gain_ratio(one)) is not None]
    near = sum(abs(ratio - 1) <= GAIN_AIM for ratio in ratios)
    yield (
        f"predicted gain within {GAIN_AIM:.0%} of the gained",
        "all",
        f"{near} of {len(ratios)}",
        near == len(ratios) > 0,
    )
    slower = sum(slows(one) for _, one in judged)
    yield ("advice that slows by more than 1 %", "none", f"{slower}", slower == 0)


def page(results: Results) -> str:
    """As Markdown."""
    busiest = max((one.other_work for one in results.programs.values()), default=0.0)
    lines = [
        "<!-- Made by `python -m planted_sites --page FILE`; do not edit. -->",
        "",
        "# Does the advice find planted call sites?",
        "",
        f"On {results.machine}, {results.processors} processors. Each program of "
        "`tests/data/planted_sites` was recorded and advised; then the pool or the arena that "
        "should be advised was built into it, and both were run in pairs. Times are processor "
        "time, and wall time of programs with several threads.",
        "",
    ]
    if busiest > QUIET:
        lines += [f"**The machine had other work (up to {busiest} tasks).**", ""]
    lines += ["| quantity | aim | here | met |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {name} | {aim} | {here} | {'yes' if met else 'no'} |"
        for name, aim, here, met in rows(results)
    ]
    lines += [
        "",
        "| program | planted | first advice | right | predicted, ms | gained, ms | "
        "predicted / gained | changed program's time / the other's |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        _line(program, results.programs[program.name])
        for program in PROGRAMS
        if program.name in results.programs
    ]
    return "\n".join([*lines, ""])


def _line(program: Planted, one: Judged) -> str:
    ratio = gain_ratio(one)
    advice = f"{one.found.policy}: {one.found.place}" if one.found.policy else "nothing"
    predicted = f"{one.found.seconds * 1e3:.1f}" if one.found.policy else "-"
    interval = f"{one.low:.3f} to {one.high:.3f}" if one.low is not None else "too few pairs"
    return (
        f"| {program.name} | {program.policy or 'nothing'} | {advice} "
        f"| {'yes' if is_right(program, one) else '**no**'} | {predicted} "
        f"| {one.gained_s * 1e3:.1f} | {'-' if ratio is None else f'{ratio:.2f}'} "
        f"| {one.ratio:.3f} ({interval}) |"
    )
