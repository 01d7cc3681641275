"""``compare --attach PID``: the memory of a process that runs already."""

from __future__ import annotations

from heapwise.cli.frame.console import Console
from heapwise.errors import Problem
from heapwise.wording.durations import show_duration

USUAL_S = 60.0


def watch(pid: int, time_s: float | None, console: Console) -> int:
    """Prints what was seen. Problems: those of ``watch_memory``."""
    import msgspec

    from heapwise.analysis.memory_over_time import KIB, growth_of
    from heapwise.runner import watch_memory
    from heapwise.runner.stop_switch import StopSwitch
    from heapwise.wording.growth import growth_words
    from heapwise.wording.numbers import show

    seconds = USUAL_S if time_s is None else time_s
    console.say(
        f"Watching process {pid} for {show_duration(seconds)}; Ctrl-C ends it earlier and "
        "keeps what was seen"
    )
    with StopSwitch() as stop:
        facts = watch_memory(pid, seconds, stop)
    curve = facts.memory
    if curve is None:
        raise Problem("E003", f"--attach {pid}: it ended before it was looked at")
    found = growth_of([curve])
    if console.as_json:
        console.json(
            {
                "pid": pid,
                "seconds": facts.wall_s,
                "memory": msgspec.to_builtins(curve),
                "growth": found,
            }
        )
        return 0
    words = (
        "too short to tell"
        if found is None
        else growth_words(found.trend, found.per_hour, found.low, found.high)
    )
    console.result(
        f"Memory   most {show(curve.peak_kib * KIB, 'bytes')}, mean "
        f"{show(curve.mean_kib * KIB, 'bytes')}, last "
        f"{show(curve.last_kib * KIB, 'bytes')}, of all its processes, in "
        f"{curve.looks:,} looks over {facts.wall_s or 0:.0f} s"
    )
    console.result(f"Growth   {words} (second half, 95 % interval)")
    console.result(
        "Not seen speed, and which allocator it has: heapwise did not start it. Nothing is stored."
    )
    return 0
