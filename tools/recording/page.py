"""The table of what recording costs, beside what it is to cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heapwise.stats.quantiles import median_interval
from other_work import QUIET
from recording.measure import median

Row = tuple[str, str, str, bool]
WORST_RATIO, USUAL_RATIO, USUAL_PROGRAMS = 1.3, 1.03, 9
PROFILE_RATIO = 1.005
READER_BYTES = 64 << 20


def page(kept: dict[str, Any]) -> str:
    """As Markdown."""
    lines = [
        "<!-- Made by `python -m recording --page FILE`; do not edit. -->",
        "",
        "# What recording costs",
        "",
        f"On {kept['machine']}, {kept['processors']} processors. Each program ran alone and "
        "under each recorder, in turns; medians of all rounds.",
        "",
        *_warning(kept),
        "| quantity | aim | here | met |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {name} | {aim} | {here} | {'yes' if met else 'no'} |"
        for name, aim, here, met in rows(kept)
    ]
    if start := kept.get("start"):
        lines += ["", _start_line(start)]
    if programs := kept.get("programs"):
        lines += [
            "",
            "## Programs",
            "",
            "Time with the recorder over time without it, and the same for a sampled profile "
            "and for two other tools. "
            "memray records Python only, and is compared with the Python that it is "
            "installed in. Programs are recorded with all their processes, whose events are "
            "added up; a profile and heaptrack are of the first process: of g++ the driver, "
            "of redis the shell that starts it. The second ratio is of processor time, with "
            "that of the drain.",
            "",
            "| program | plain, s | heapwise record | its processor time | record --profile "
            "| heaptrack | memray | processes | events | bytes an event |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        lines += [_program_line(name, each) for name, each in programs.items()]
    return "\n".join([*lines, ""])


def _warning(kept: dict[str, Any]) -> list[str]:
    # Of turns, instructions are counted.
    other = {part: tasks for part, tasks in kept.get("other_work", {}).items() if part != "turns"}
    busiest = max(other.values(), default=0.0)
    if busiest <= QUIET:
        return []
    parts = ", ".join(part for part, tasks in other.items() if tasks > QUIET)
    return [
        f"**The machine had other work when these parts began: {parts} (up to {busiest} "
        "tasks), so wall times are too long by an unknown factor.** Processor times, sizes and "
        "memory are less affected.",
        "",
    ]


def _start_line(start: dict[str, Any]) -> str:
    """In milliseconds: what each recording takes, however short the program is."""

    def longer(way: str, clock: str) -> str:
        times = start[clock]
        rounds = [(a - b) * 1e3 for a, b in zip(times[way], times["plain"], strict=True)]
        return f"{median(rounds):.1f} ms{_interval(rounds, '.1f')}"

    return (
        "To start and to end: a program that does nothing takes "
        f"{longer('heapwise', 'wall_s')} longer if it is recorded, and "
        f"{longer('profile', 'wall_s')} with a sampled profile; "
        f"{longer('heapwise', 'processor_s')} and {longer('profile', 'processor_s')} of "
        "processor time."
    )


def _program_line(name: str, each: dict[str, Any]) -> str:
    times = each["wall_s"]
    failed = each.get("failed", {})
    heaptrack = _ratio(times, "heaptrack", "plain", failed)
    memray = _ratio(times, "memray", "plain, memray's python", failed)
    processor = _ratio(each.get("processor_s", {}), "heapwise", "plain", failed)
    profile = _ratio(times, "profile", "plain", failed)
    return (
        f"| {name} | {median(times['plain']):.3f} | {ratio(each):.3f} | {processor} "
        f"| {profile} | {heaptrack} | {memray} | {each['processes']} | {each['events']:,} "
        f"| {each['bytes'] / max(1, each['events']):.2f} |"
    )


def _ratio(times: dict[str, list[float]], name: str, base: str, failed: dict[str, str]) -> str:
    if name in failed:
        return "fails"
    if name not in times or not all(times[base]):  # a clock of processor time ticks slowly
        return "-"
    return f"{median([a / b for a, b in zip(times[name], times[base], strict=True)]):.3f}"


def ratio(each: dict[str, Any], way: str = "heapwise") -> float:
    """Of a program's time: recorded over plain, the median of the rounds."""
    times = each["wall_s"]
    return median([a / b for a, b in zip(times[way], times["plain"], strict=True)])


def rows(kept: dict[str, Any]) -> Iterator[Row]:
    """Quantity, aim, figure, and whether it is met."""
    if load := kept.get("load"):
        yield from _load_rows(load)
    if turns := kept.get("turns"):
        yield from _turns_rows(turns)
    if programs := kept.get("programs"):
        ratios = sorted(ratio(each) for each in programs.values())
        cheap = sum(each <= USUAL_RATIO for each in ratios)
        yield (
            "programs that take at most 3 % more time",
            f"{USUAL_PROGRAMS} of 12",
            f"{cheap} of {len(ratios)}",
            cheap >= USUAL_PROGRAMS,
        )
        yield (
            "the worst program",
            f"at most {WORST_RATIO} times",
            f"{ratios[-1]:.2f} times",
            ratios[-1] <= WORST_RATIO,
        )
        yield from _profile_row(programs)
        sizes = [
            each["bytes"] / max(1, each["events"])
            for each in programs.values()
            if each["events"] >= FEW_EVENTS
        ]
        mean = sum(sizes) / max(1, len(sizes))
        yield (
            f"bytes an event, mean of {len(sizes)} programs with {FEW_EVENTS:,} events or more",
            "at most 2.0",
            f"{mean:.2f}",
            mean <= 2.0,
        )
    for most_mib, each in kept.get("limit", {}).items():
        most = int(most_mib) << 20
        yield (
            f"size of {each['events']:.2g} events, limit {most_mib} MiB",
            "at most the limit",
            f"{each['bytes'] / 2**20:.1f} MiB, {each['kept'] / each['events']:.0%} kept",
            each["bytes"] <= most,
        )
        if "missing" in each:  # figures may be of an earlier version
            yield (
                f"its calls that were not counted, limit {most_mib} MiB",
                "none",
                f"{each['missing']} of {each['events']:,}; recorded in {each['seconds']:.0f} s",
                each["missing"] == 0,
            )
        yield (
            f"reading {most_mib} MiB: speed",
            "at least 50 M events/s",
            f"{each['events_per_s'] / 1e6:.0f} M{_of_processor(each)}",
            each["events_per_s"] >= 50e6,
        )
        if played := each.get("player_events_per_s"):
            yield (
                f"reading the first window of {most_mib} MiB by the player, without its tables",
                "at least 50 M events/s",
                f"{played / 1e6:.0f} M in {each['player_bytes'] / 2**20:.0f} MiB",
                played >= 50e6,
            )
            yield (
                f"resident memory of that reader, {most_mib} MiB",
                "at most 64 MiB",
                f"{each['player_bytes'] / 2**20:.0f} MiB",
                each["player_bytes"] <= READER_BYTES,
            )
        yield (
            f"reading {most_mib} MiB: resident memory",
            "at most 64 MiB",
            f"{each['reader_bytes'] / 2**20:.0f} MiB",
            each["reader_bytes"] <= READER_BYTES,
        )


def _of_processor(each: dict[str, Any]) -> str:
    """Nothing if it was not measured: figures may be of an earlier version."""
    rate = each.get("events_per_processor_s")
    return f"; {rate / 1e6:.0f} M in a second of processor time" if rate else ""


def _profile_row(programs: dict[str, Any]) -> Iterator[Row]:
    """Nothing if no program was profiled: figures may be of an earlier version."""
    ratios = sorted(
        (ratio(each, "profile"), name)
        for name, each in programs.items()
        if "profile" in each["wall_s"]
    )
    if ratios:
        worst, name = ratios[-1]
        yield (
            f"time with a sampled profile, {len(ratios)} programs",
            "at most 0.5 % more",
            f"median {median([each for each, _ in ratios]) - 1:+.1%}, worst {worst - 1:+.1%} "
            f"({name})",
            worst <= PROFILE_RATIO,
        )


FEW_EVENTS = 100_000
"""A file of fewer events is mostly the names of libraries."""


def _load_rows(load: dict[str, Any]) -> Iterator[Row]:
    for name, aim in (("1 thread, caller only", 25), ("1 thread, a stack of 1 in 256", 35)):
        each = load[name]
        yield (
            f"cost of an event, {name}",
            f"at most {aim} ns",
            f"{_ns(each['wall_ns'])} of the program's time; {_ns(each['program_ns'])} of its "
            f"processor time; {_ns(each['processor_ns'])} of processor time with the drain's",
            median(each["wall_ns"]) <= aim,
        )
    for kind in ("caller only", "a stack of 1 in 256"):
        many, one = load[f"8 threads, {kind}"], load[f"1 thread, {kind}"]
        ratios = [a / b for a, b in zip(many["processor_ns"], one["processor_ns"], strict=True)]
        found = median(many["processor_ns"]) / median(one["processor_ns"])
        yield (
            f"8 threads over 1, processor time of an event, {kind}",
            "at most 1.2",
            f"{found:.2f}{_interval(ratios, '.2f')}; the threads wait "
            f"{_ns(many['wall_ns'])} of a processor an event",
            found <= 1.2,
        )
        yield from _later_row(many, one, f"the same without what starts take, {kind}")
    if one := load.get("1 thread with the blocks of 8, caller only"):
        yield from _later_row(
            load["8 threads, caller only"], one, "the same beside 1 thread with as many live blocks"
        )


def _later_row(many: dict[str, Any], one: dict[str, Any], quantity: str) -> Iterator[Row]:
    """Nothing if it was not measured: figures may be of an earlier version."""
    if "later_ns" not in many or "later_ns" not in one:
        return
    found = median(many["later_ns"]) / median(one["later_ns"])
    ratios = [a / b for a, b in zip(many["later_ns"], one["later_ns"], strict=True)]
    yield (
        quantity,
        "at most 1.2",
        f"{median(many['later_ns']):.0f} / {median(one['later_ns']):.0f} ns = "
        f"{found:.2f}{_interval(ratios, '.2f')}; starts take {_ms(many['starts_ms'])} of "
        f"processor time with 8 threads, {_ms(one['starts_ms'])} with one",
        found <= 1.2,
    )


def _ms(rounds: list[float]) -> str:
    return f"{median(rounds):.1f} ms{_interval(rounds, '.1f')}"


def _ns(rounds: list[float]) -> str:
    return f"{median(rounds):.0f} ns{_interval(rounds, '.0f')}"


def _interval(rounds: list[float], format_: str) -> str:
    """Of the median of the rounds; nothing if they are too few."""
    found = median_interval(rounds)
    if found.low is None or found.high is None:
        return ""
    return f" (95 % CI {found.low:{format_}} to {found.high:{format_}})"


def _turns_rows(turns: dict[str, Any]) -> Iterator[Row]:
    """Each event of threads by turns over one of a thread that runs alone."""
    alone = turns["1 thread"]["instructions"] / turns["1 thread"]["events"]
    for name, each in turns.items():
        if each is turns["1 thread"]:
            continue
        found = each["instructions"] / each["events"]
        change = (each["instructions"] - alone * each["events"]) / each["changes"]
        yield (
            f"{name}, over 1 thread: instructions of the drain for an event",
            "at most 1.2",
            f"{found:.0f} / {alone:.0f} = {found / alone:.2f}; {change:.0f} for a change of "
            "threads",
            found / alone <= 1.2,
        )
