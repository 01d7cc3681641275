"""One run of a load generator against a server."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hdrh.histogram import HdrHistogram

from heapwise.errors import Problem
from heapwise.model import LoadFacts, Setting, filled
from heapwise.runner.process.launch import Launch, launch, tail
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.study.server.generators import (
    Generator,
    Measured,
    Printed,
    generator_of,
    without_rate,
)

EXTRA_S = 60.0
"""A generator may take this much longer than its load."""

LONGEST_US, FIGURES = 3_600_000_000, 3
"""The longest, and the figures, of a latency that the histogram holds."""

QUANTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9, "max": 100.0}


@dataclass(frozen=True)
class Load:
    """What puts a server under load. environment: of the generator, with nothing preloaded."""

    words: list[str]
    generator: Generator
    environment: dict[str, str]
    seconds: float
    cpus: Sequence[int]
    folder: Path

    def put(self, rate: float | None, values: Mapping[str, Setting], stop: StopSwitch) -> LoadFacts:
        """rate: requests a second; None for as many as are answered. Problem E035 if the generator
        fails. Stopped by the user, the facts have no requests."""
        words = self.words if rate is not None else without_rate(self.words)
        more: dict[str, Setting] = {
            "rate": f"{rate:.0f}" if rate else "",
            "time": f"{self.seconds:g}",
        }
        command = self.generator.complete(
            [filled(word, {**values, **more}) for word in words], has_rate=rate is not None
        )
        place = self.folder / "load"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        output = place / "output"
        began = time.monotonic()
        # The launcher keeps the ends of an output alone, and here every line counts.
        outcome = launch(
            Launch(
                ["/bin/sh", "-c", 'exec "$@" >"$0"', str(output), *command],
                self.environment,
                self.seconds + EXTRA_S,
                working_directory=str(place),
                cpus=self.cpus,
            ),
            self.folder,
            stop,
        )
        if outcome.interrupted or stop.requested:
            return LoadFacts(generator=self.generator.name)
        facts = outcome.facts
        text = outcome.stderr.decode(errors="replace")
        if facts.exit_code != 0:
            how = "did not end in time" if facts.timed_out else f"ended with {facts.exit_code}"
            said = tail(outcome.stderr).strip() or output.read_text(errors="replace")[-500:].strip()
            raise Problem("E035", f"the load generator {self.generator.name} {how}: {said}")
        wall = float(facts.wall_s or time.monotonic() - began)
        try:
            found = self.generator.parse(
                Printed(output.read_text(errors="replace"), text, place, wall)
            )
        except (ValueError, KeyError, IndexError) as error:
            raise Problem(
                "E035",
                f"what {self.generator.name} printed cannot be read: {error}",
                do="see docs/how-to/measure-a-server.md for the versions that are known",
            ) from error
        return self._facts(found, rate, (facts.cpu_s or 0.0) / wall)

    def _facts(self, found: Measured, rate: float | None, busy: float) -> LoadFacts:
        opened = rate is not None and self.generator.has_schedule
        # Of a schedule the time is known; what came later is late, and no more of it.
        seconds = self.seconds if opened else found.seconds
        return LoadFacts(
            generator=self.generator.name,
            open_loop=opened,
            intended_rate=rate,
            achieved_rate=found.requests / seconds if seconds else 0.0,
            schedule_share=_share(found, self.seconds) if opened else None,
            requests=found.requests,
            errors=found.errors,
            generator_cpu=busy / max(1, len(self.cpus)),
            histogram=_encoded(found.latencies_s) if opened and found.latencies_s else None,
        )


def load_of(
    words: list[str], environment: dict[str, str], seconds: float, cpus: Sequence[int], folder: Path
) -> Load:
    """Problem E003 for a generator that is not known."""
    return Load(words, demand_generator(words), environment, seconds, cpus, folder)


def demand_generator(words: Sequence[str]) -> Generator:
    """Problem E003 for one that is not known."""
    from heapwise.study.server.generators import GENERATORS

    found = generator_of(words)
    if found is None:
        known = ", ".join(sorted(GENERATORS))
        raise Problem(
            "E003",
            f"--load {words[0] if words else ''}: no load generator of that name is known",
            why="Its output could not be read.",
            do=f"use one of {known}",
        )
    return found


def _share(found: Measured, seconds: float) -> float | None:
    return None if found.scheduled_s is None else min(1.0, found.scheduled_s / seconds)


def _encoded(latencies_s: Sequence[float]) -> str:
    histogram = HdrHistogram(1, LONGEST_US, FIGURES)
    for latency in latencies_s:
        histogram.record_value(min(LONGEST_US, max(1, round(latency * 1e6))))
    encoded: bytes = histogram.encode()
    return encoded.decode()


def latency_values(load: LoadFacts) -> dict[str, float]:
    """Quantity -> seconds; empty without latencies."""
    if load.histogram is None:
        return {}
    histogram = HdrHistogram.decode(load.histogram.encode())
    return {
        f"latency_{name}": histogram.get_value_at_percentile(q) / 1e6
        for name, q in QUANTILES.items()
    }
