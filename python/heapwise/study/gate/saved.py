"""A baseline in a file: exact counts of a build, for gates without the build itself."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.evidence.judged_limits import DEAR
from heapwise.machine import read_machine
from heapwise.runner import CompareRequest
from heapwise.runner.commits.exact_counts import ExactCounts
from heapwise.stats.claims.limits import (
    CONFIRMED,
    COUNTS,
    REPEATED,
    is_suspect,
    runs_to_confirm,
)

FORMAT = 1

PASSED = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TZ", "USER")
"""Variables that a counted program gets. Programs copy their environment, and that of CI jobs has
other lengths in each job."""


class SavedBaseline(msgspec.Struct, frozen=True):
    """counts: metric -> what each process counted. surroundings: on what a count can depend beside
    the build, in words."""

    format: int
    surroundings: dict[str, str]
    counts: dict[str, list[int]]


@dataclass(frozen=True)
class CountedBuild:
    """A program at its absolute path, with its arguments."""

    program: Path
    arguments: Sequence[str]
    request: CompareRequest = field(default_factory=CompareRequest)

    def saved(self, metrics: Iterable[str]) -> SavedBaseline:
        """What ``--save-baseline`` writes. Problem E030 if a metric cannot be counted."""
        counts = {
            metric: self._counter(metric).of(
                self._command, REPEATED if metric in DEAR else CONFIRMED
            )
            for metric in metrics
        }
        return SavedBaseline(FORMAT, self.surroundings(counts), counts)

    def against(self, base: SavedBaseline, limits: Mapping[str, float]) -> dict[str, list[int]]:
        """Two processes for each metric, and more if it seems to have grown beyond its limit."""
        found = {}
        for metric, limit in limits.items():
            counter = self._counter(metric)
            counts, known = counter.of(self._command), base.counts[metric]
            needed = runs_to_confirm(known, counts, dear=metric in DEAR)
            if len(counts) < needed and is_suspect(known, counts, limit):
                counts += counter.of(self._command, needed - COUNTS)
            found[metric] = counts
        return found

    def surroundings(self, metrics: Iterable[str]) -> dict[str, str]:
        environment = self._environment()
        size = sum(len(name) + len(value) for name, value in environment.items())
        path = self.program
        counter = {"the counter of instructions": "cachegrind"} if DEAR & {*metrics} else {}
        return counter | {
            "the C library": f"{read_machine().libc}, {platform.machine()}",
            "the arguments": shlex.join(self.arguments),
            "the program's path": f"{len(os.fsencode(path))} bytes in {len(path.parts)} parts",
            "the environment": f"{len(environment)} variables of {size} bytes",
        }

    @property
    def _command(self) -> list[str]:
        return [str(self.program), *self.arguments]

    def _environment(self) -> dict[str, str]:
        if self.request.keep_environment:
            return dict(os.environ)
        return {name: os.environ[name] for name in PASSED if name in os.environ}

    def _counter(self, metric: str) -> ExactCounts:
        return ExactCounts(metric, self.request, self._environment())


def read_baseline(path: Path, metrics: Iterable[str]) -> SavedBaseline:
    """Problem E015 for a file that is not a baseline, or has not all of the metrics."""
    again = f"heapwise gate --save-baseline {shlex.quote(str(path))} --new PROGRAM --limit ..."
    try:
        found = msgspec.json.decode(path.read_bytes(), type=SavedBaseline)
    except OSError as error:
        raise Problem("E015", f"{path} cannot be read: {error.strerror}", do=again) from error
    except ValueError as error:
        raise Problem("E015", f"{path} is not a baseline: {error}", do=again) from error
    if found.format != FORMAT:
        raise Problem("E015", f"{path} has format {found.format}, not {FORMAT}", do=again)
    if missing := [metric for metric in metrics if not found.counts.get(metric)]:
        raise Problem("E015", f"{path} has no count of {', '.join(missing)}", do=again)
    return found


def other_surroundings(saved: Mapping[str, str], now: Mapping[str, str]) -> str:
    """On what else the counts may depend; "" if that is as it was."""
    changed = [
        f"{name}: {saved.get(name) or 'none'}, now {value or 'none'}"
        for name, value in now.items()
        if saved.get(name) != value
    ]
    return "; ".join(changed)
