"""The process of a trace that is still being written."""

from __future__ import annotations

from pathlib import Path

from heapwise.model.json_value import Json

NAMES = ".names"
"""Behind the name of a trace: the file that the recorder writes beside it when it pauses."""


def running_process(about: dict[str, Json]) -> int:
    """Its number, if a process with it still runs the recorded program here; else 0. Another
    process may have the number by now, or another namespace of processes another meaning of it."""
    process = about.get("process")
    number = process.get("pid") if isinstance(process, dict) else None
    program = about.get("program")
    if not isinstance(number, int) or not isinstance(program, str):
        return 0
    try:
        is_same = Path(f"/proc/{number}/exe").samefile(program)
    except OSError:
        return 0
    return number if is_same else 0


def mappings_now(number: int) -> str:
    """Where the files of a running process are mapped; "" if that is not to be read."""
    try:
        return Path(f"/proc/{number}/maps").read_text(errors="replace")
    except OSError:
        return ""


def names_beside(trace: Path) -> str:
    """What the addresses of a trace mean that is not complete; "" if the recorder has not said
    it."""
    try:
        return trace.with_name(trace.name + NAMES).read_text(errors="replace")
    except OSError:
        return ""
