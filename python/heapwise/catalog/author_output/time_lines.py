"""Lines of ``time`` as shells, GNU and BSD print them, each below the command that was timed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from heapwise.catalog.author_output.damaged import DamagedOutput, number_of

NAMES = ("real", "user", "sys")
DURATION = r"(?:\d+m)?(?:\d+:)*\d+(?:\.\d+)?s?"
BELOW_EACH_OTHER = re.compile(rf"(real|user|sys)\s+({DURATION})")
BSD = re.compile(r"(?P<real>[\d.]+) real\s+(?P<user>[\d.]+) user\s+(?P<sys>[\d.]+) sys")
GNU = re.compile(
    r"(?P<user>[\d.]+)user (?P<sys>[\d.]+)system (?P<real>[\d:.]+)elapsed.*",
)
ZSH = re.compile(
    r"(?P<command>\S.*?)\s+(?P<user>[\d.]+)s user (?P<sys>[\d.]+)s system .* "
    r"(?P<real>[\d:.]+) total"
)
IN_ONE_LINE = (BSD, GNU, ZSH)
GNU_INPUTS = re.compile(r"\d+inputs\+\d+outputs .*")
TRACED = re.compile(r"[+$%] (.*)")
"""A command as a shell prints it with ``set -x``, or behind a prompt."""

TIMER = re.compile(r"^(?:/\S*/)?time(?: -p)? +")


@dataclass
class _Reading:
    """The command above, how it was found, and the times that it has so far."""

    command: str = ""
    is_traced: bool = False
    times: dict[str, float | str] = field(default_factory=dict)
    found: list[dict[str, float | str]] = field(default_factory=list)


def is_form(text: str) -> bool:
    return any(_times(line.strip()) for line in text.splitlines())


def records(text: str) -> list[dict[str, float | str]]:
    """One for each timed command: ``command``, and ``real``, ``user`` and ``sys`` in seconds.
    DamagedOutput if a time has no command, or a command not all three times."""
    reading = _Reading()
    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        _read_line(reading, line.strip(), number)
    if reading.times:
        raise DamagedOutput(number, _missing(reading))
    return reading.found


def _read_line(reading: _Reading, line: str, number: int) -> None:
    times = _times(line)
    if not times:
        if reading.times and line:
            raise DamagedOutput(number, _missing(reading))
        _read_command(reading, line)
        return
    if set(times) & set(reading.times):
        raise DamagedOutput(number, _missing(reading))
    reading.times |= times
    if not set(NAMES) <= set(reading.times):
        return
    command = reading.times.pop("command", "") or reading.command
    if not command:
        raise DamagedOutput(number, "the line with the command that was timed is missing above it")
    reading.found.append({"command": command, **reading.times})
    reading.command, reading.is_traced, reading.times = "", False, {}


def _read_command(reading: _Reading, line: str) -> None:
    """The last line above the times; a traced command goes before the output of the program."""
    if not line or GNU_INPUTS.fullmatch(line):
        return
    if traced := TRACED.fullmatch(line):
        reading.command, reading.is_traced = TIMER.sub("", traced[1]).strip(), True
    elif not reading.is_traced:
        reading.command = line


def _times(line: str) -> dict[str, float | str]:
    """Those that the line has, and the command if it has one; empty for another line."""
    if one := BELOW_EACH_OTHER.fullmatch(line):
        return {one[1]: _seconds(one[2])}
    for form in IN_ONE_LINE:
        if whole := form.fullmatch(line):
            return {
                name: text if name == "command" else _seconds(text)
                for name, text in whole.groupdict().items()
            }
    return {}


def _seconds(text: str) -> float:
    """``12.11``, ``0:12.11`` or ``0m12.110s``."""
    seconds = 0.0
    for part in re.split("[m:]", text.removesuffix("s")):
        seconds = 60 * seconds + (number_of(part) or 0.0)
    return seconds


def _missing(reading: _Reading) -> str:
    names = [name for name in NAMES if name not in reading.times]
    return f"the time before it is not complete: {' and '.join(names) or 'a command'} is missing"
