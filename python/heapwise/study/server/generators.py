"""What is known of each load generator: how it is asked for a rate, and what it prints.

Latencies are taken only from generators that send by a schedule and count from the planned moment.
One that waits for each answer leaves out the requests that would have come while the server stood
still (coordinated omission), so its latencies are not read at all.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

RATE, TIME = "{rate}", "{time}"
K6_LINES = "k6.json"
"""In the folder in which it runs."""

UNSEEN_GAPS = 10.0
"""At the two ends of a schedule, together."""

CHANCE = 4.0
"""Standard deviations of a number of requests whose gaps are drawn."""


@dataclass(frozen=True)
class Measured:
    """The figures of one run of a generator. latencies_s: of each request that was answered, from
    the moment that was planned for it; empty for a generator that has no schedule. scheduled_s:
    seconds of the schedule whose requests were answered; None if it does not tell."""

    requests: int
    errors: int
    seconds: float
    latencies_s: list[float] = field(default_factory=list)
    scheduled_s: float | None = None


@dataclass(frozen=True)
class Printed:
    """What a generator left: its output, and the folder in which it ran."""

    stdout: str
    stderr: str
    folder: Path
    seconds: float
    """That it ran."""


Parse = Callable[[Printed], Measured]


@dataclass(frozen=True)
class Generator:
    """``more``: words that it needs for its figures, unless the user wrote their first one.
    ``has_schedule``: with a rate it counts latencies from the planned moment. ``with_rate``: words
    that it needs for that, and that a load without a rate must not have."""

    name: str
    parse: Parse
    more: tuple[tuple[str, ...], ...] = ()
    has_schedule: bool = False
    with_rate: tuple[str, ...] = ()

    def complete(self, words: Sequence[str], *, has_rate: bool = True) -> list[str]:
        """The command with what is needed to read its figures, after its first word."""
        added = [word for group in self.more if group[0] not in words for word in group]
        if has_rate:
            added += [word for word in self.with_rate if word not in words]
            return [*words[:1], *added, *words[1:]]
        left = [word for word in words[1:] if word not in self.with_rate]
        return [*words[:1], *added, *left]


def without_rate(words: Sequence[str]) -> list[str]:
    """The command that sends as fast as it is answered: without the word that holds {rate}, and
    without the option before it."""
    found: list[str] = []
    for word in words:
        if RATE not in word:
            found.append(word)
        elif not word.startswith("-") and found and found[-1].startswith("-"):
            found.pop()
    return found


def generator_of(words: Sequence[str]) -> Generator | None:
    """By the name of the program; None for one that is not known."""
    return GENERATORS.get(Path(words[0]).name) if words else None


def _oha(printed: Printed) -> Measured:
    """One line for each request that was answered. What was not answered has no line."""
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    answered = [row for row in rows if row["status"][:1] in "123"]
    ends = [float(row["request-start"]) + float(row["request-duration"]) for row in rows]
    return Measured(
        len(answered),
        len(rows) - len(answered),
        max(ends, default=0.0),
        [float(row["request-duration"]) for row in answered],
    )


def _pgbench(printed: Printed) -> Measured:
    """A log for each thread, with a line for each transaction: the third number is its time in
    microseconds, from the planned moment if there is a rate, and the fifth and sixth are when it
    ended, in seconds and microseconds."""
    latencies: list[float] = []
    plans: list[list[float]] = []
    failed = 0
    for file in sorted(printed.folder.glob("pgbench_log.*")):
        planned: list[float] = []
        for line in file.read_text().splitlines():
            words = line.split()
            if words[2].isdigit():
                late = int(words[2]) / 1e6
                latencies.append(late)
                planned.append(int(words[4]) + int(words[5]) / 1e6 - late)
            else:
                failed += 1
        plans.append(planned)
    seconds = _number(r"duration: ([\d.]+) s", printed.stdout) or printed.seconds
    return Measured(len(latencies), failed, seconds, latencies, _answered_span(plans))


def _answered_span(plans_s: Sequence[Sequence[float]]) -> float | None:
    """Seconds from the start of a schedule to the last planned moment that was answered, in the
    mean of the threads, of whose planned moments these are. Where a schedule started and where its
    next moment would have been is not known, only the mean gap: a drawn gap is over
    ``UNSEEN_GAPS`` / 2 means in one of 150. A thread of which hardly anything was answered has
    only that. None if all threads are such."""
    spans = [max(plan) - min(plan) if len(plan) > 1 else 0.0 for plan in plans_s]
    gaps = sum(len(plan) - 1 for plan in plans_s if len(plan) > 1)
    if gaps == 0:
        return None
    return sum(spans) / len(spans) + UNSEEN_GAPS * sum(spans) / gaps


def _redis_benchmark(printed: Printed) -> Measured:
    """With --csv: "test","rps","avg_latency_ms", ... ; the mean over the tests is harmonic, since
    each has as many requests."""
    rates = [
        float(row["rps"]) for row in csv.DictReader(io.StringIO(printed.stdout)) if row.get("rps")
    ]
    if not rates:
        raise ValueError("no rate in what redis-benchmark printed")
    rate = len(rates) / sum(1 / each for each in rates)
    return Measured(round(rate * printed.seconds), 0, printed.seconds)


def _wrk(printed: Printed) -> Measured:
    found = re.search(r"(\d+) requests in ([\d.]+)(ms|s|m)", printed.stdout)
    if not found:
        raise ValueError("no number of requests in what wrk printed")
    seconds = float(found[2]) * {"ms": 0.001, "s": 1.0, "m": 60.0}[found[3]]
    refused = int(_number(r"Non-2xx or 3xx responses: (\d+)", printed.stdout) or 0)
    lost = re.search(
        r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", printed.stdout
    )
    return Measured(int(found[1]), refused + sum(map(int, lost.groups() if lost else ())), seconds)


def _memcslap(printed: Printed) -> Measured:
    """ "Time to set 20000 keys by 4 threads: 0.504 seconds."""
    found = re.findall(
        r"^Time to (?:set|get)\s+(\d+) keys by .*:\s+([\d.]+) seconds", printed.stdout, re.MULTILINE
    )
    if not found:
        raise ValueError("no keys in what memcslap printed")
    return Measured(
        sum(int(keys) for keys, _ in found), 0, sum(float(seconds) for _, seconds in found)
    )


def _h2load(printed: Printed) -> Measured:
    """Its times count from the sending, with a rate too, so they are not read."""
    found = re.search(
        r"requests: (\d+) total, \d+ started, (\d+) done, (\d+) succeeded", printed.stdout
    )
    if not found:
        raise ValueError("no number of requests in what h2load printed")
    seconds = _number(r"finished in ([\d.]+)s", printed.stdout) or printed.seconds
    return Measured(int(found[3]), int(found[2]) - int(found[3]), seconds)


def _memtier(printed: Printed) -> Measured:
    rate = _number(r"^Totals\s+([\d.]+)", printed.stdout)
    if rate is None:
        raise ValueError("no totals in what memtier_benchmark printed")
    return Measured(round(rate * printed.seconds), 0, printed.seconds)


def _k6(printed: Printed) -> Measured:
    """A line for each measurement, in K6_LINES. An iteration starts at its planned moment, or is
    dropped if no virtual user is free, so what was not sent is counted and not timed."""
    late: list[float] = []
    failed = 0
    text = (printed.folder / K6_LINES).read_text()
    for line in text.splitlines():
        point = json.loads(line)
        if point["type"] != "Point":
            continue
        data = point["data"]
        if point["metric"] == "dropped_iterations":
            failed += round(data["value"])
        elif point["metric"] == "http_req_duration":
            if data["tags"].get("expected_response") == "true":
                late.append(data["value"] / 1000)
            else:
                failed += 1
    return Measured(len(late), failed, printed.seconds, late)


def _ghz(printed: Printed) -> Measured:
    """Latencies are in nanoseconds. With --async it does not wait for an answer before
    the next request."""
    found = json.loads(printed.stdout)
    details = found.get("details") or []
    sound = [each["latency"] / 1e9 for each in details if each["status"] == "OK"]
    return Measured(len(sound), len(details) - len(sound), found["total"] / 1e9, sound)


def _sysbench(printed: Printed) -> Measured:
    """A thread of its own puts requests into a queue by a schedule, and a latency counts from the
    moment in the queue. The histogram has steps of 1.8 %, and its values are their middles."""
    text = printed.stdout
    requests = _number(r"total number of events:\s+(\d+)", text)
    seconds = _number(r"total time:\s+([\d.]+)s", text)
    if requests is None or seconds is None:
        raise ValueError("no number of events in what sysbench printed")
    late = [
        float(ms) / 1000
        for ms, number in re.findall(r"^\s*([\d.]+) \|[* ]*\s(\d+)$", text, re.MULTILINE)
        for _ in range(int(number))
    ]
    rate = _number(r"Target transaction rate: (\d+)/sec", text)
    share = None if rate is None else _share_of_queue(text, requests, rate * math.floor(seconds))
    return Measured(
        round(requests), 0, seconds, late, None if share is None else share * math.floor(seconds)
    )


def _share_of_queue(text: str, answered: float, expected: float) -> float:
    """The share of the requests of a schedule. Those that wait in the queue at the end are counted
    in its last report. Those that never came into it are what is less than was to be expected of
    gaps that are drawn."""
    waiting = re.findall(r"queue length: (\d+)", text)
    planned = answered + (int(waiting[-1]) if waiting else 0)
    never = max(0.0, expected - planned - CHANCE * math.sqrt(expected))
    return answered / (planned + never)


def _number(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text, re.MULTILINE)
    return float(found[1]) if found else None


GENERATORS = {
    generator.name: generator
    for generator in (
        Generator(
            "oha",
            _oha,
            (("--no-tui",), ("--output-format", "csv"), ("--latency-correction",), ("-w",)),
            has_schedule=True,
        ),
        Generator("pgbench", _pgbench, (("--log",),), has_schedule=True),
        Generator("k6", _k6, (("--quiet",), (f"--out=json={K6_LINES}",)), has_schedule=True),
        Generator("ghz", _ghz, (("-O", "json"),), has_schedule=True, with_rate=("--async",)),
        Generator(
            "sysbench",
            _sysbench,
            (("--histogram=on",), ("--report-interval=1",)),
            has_schedule=True,
        ),
        Generator("redis-benchmark", _redis_benchmark, (("--csv",),)),
        Generator("wrk", _wrk),
        Generator("h2load", _h2load),
        Generator("memtier_benchmark", _memtier),
        Generator("memcslap", _memcslap),
    )
}
"""By the name of the program."""
