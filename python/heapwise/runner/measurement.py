"""Executes the steps of ``run``: an experiment's binary, once per cell, subject and round."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heapwise.catalog import PROBE, native_folder
from heapwise.model import Plan, Process, Sample, Status
from heapwise.runner.campaign import Record, now
from heapwise.runner.environment import padding, preload
from heapwise.runner.identity import loader_refusal, read_lines, wrong_library
from heapwise.runner.steps import Step
from heapwise.runner.stop_switch import StopSwitch
from heapwise.runner.stream import Ending, Line, command_of, stream

DEFAULT_TIMEOUT_S, SMOKE_TIMEOUT_S = 900.0, 120.0
MISUSED, WORK_IS_WRONG = 2, 3
"""Exit codes of an experiment, by schema/README.md."""


@dataclass
class Collected:
    """The lines of one process."""

    start: Line = field(default_factory=dict)
    end: Line = field(default_factory=dict)
    checks: list[Line] = field(default_factory=list)
    refused: str = ""
    malformed: int = 0


@dataclass
class ExperimentExecutor:
    """``environment`` is what the children get."""

    plan: Plan
    environment: dict[str, str]

    def __post_init__(self) -> None:
        probe = native_folder() / PROBE
        self._probe = str(probe) if probe.exists() else ""
        self._folder = tempfile.TemporaryDirectory(prefix="heapwise-")

    def prepare(self, stop: StopSwitch, record: Record, next_number: Callable[[], int]) -> None:
        """Nothing: an experiment needs no trial."""

    def after(self, process: Process) -> None:
        """Nothing: one experiment that fails does not spoil the others."""

    def execute(self, step: Step, number: int, stop: StopSwitch, record: Record) -> Process:
        found = Collected()
        probe_file = Path(self._folder.name) / "probe"
        probe_file.unlink(missing_ok=True)

        def take(line: Line) -> None:
            if line.get("kind") != "sample":
                _keep(line, found)
                return
            try:
                sample = sample_of(line, step, number)
            except (KeyError, TypeError, ValueError, AttributeError):
                found.malformed += 1
            else:
                record(sample)

        started_at = now()
        try:
            ending = stream(
                self._command(step), self._environment(step, number, probe_file),
                self._timeout_s(), stop, take, self.plan.options.get("cpus") or (),
            )
        except OSError as error:
            ending = Ending(None, None, False, str(error).encode(), {"start_error": str(error)})
        identity = read_lines(probe_file)
        status, reason = self._judge(step, ending, found, identity, stop)
        return Process(
            number=number, experiment=step.experiment.id, subject=step.subject.name,
            parameters=step.parameters, round=step.round, status=status, reason=reason,
            warm_up=step.warm_up, facts=_facts(ending, found, status), identity=identity,
            started_at=started_at,
        )

    def _command(self, step: Step) -> list[str]:
        return command_of(
            step.experiment.binary, inner_name(step), step.parameters,
            seed=self.plan.seed + step.round, repeats=self.plan.options.get("repeats"),
            smoke=self.plan.smoke,
        )

    def _environment(self, step: Step, number: int, probe_file: Path) -> dict[str, str]:
        peer = step.subject.peer
        library = peer.path if peer and peer.path else ""
        users = self.environment.get("LD_PRELOAD", "")
        return self.environment | {
            "LD_PRELOAD": preload(library, self._probe, also=users),
            "HEAPWISE_PROBE_OUT": str(probe_file),
            "HEAPWISE_PAD": padding(self.plan.seed, number),
        }

    def _timeout_s(self) -> float:
        return self.plan.timeout_s or (SMOKE_TIMEOUT_S if self.plan.smoke else DEFAULT_TIMEOUT_S)

    def _judge(
        self, step: Step, ending: Ending, found: Collected, identity: list[dict[str, Any]],
        stop: StopSwitch,
    ) -> tuple[Status, str]:
        if stop.requested and not found.end:
            return "interrupted", "stopped by you"
        if refusal := loader_refusal(ending.stderr):
            return "wrong_allocator", refusal
        if ending.timed_out:
            return "timed_out", f"no end after {self._timeout_s():.0f} s"
        if ending.signal:
            return "crashed", f"crashed (signal {ending.signal})"
        if found.refused:
            return "refused", found.refused
        peer = step.subject.peer
        evidence = identity or ([found.start] if found.start.get("malloc") else [])
        if peer is not None and (wrong := wrong_library(evidence, peer, set())):
            return "wrong_allocator", wrong
        return _outcome(ending, found)


def inner_name(step: Step) -> str:
    """What the binary calls the subject: ``malloc@jemalloc`` and controls are our names for it."""
    name = step.subject.name
    if step.subject.control:
        name = name.removesuffix("-control")
    return name.partition("@")[0]


def sample_of(line: Line, step: Step, number: int) -> Sample:
    """A line of the binary as a sample. ValueError when it has no number."""
    repeat = int(line["repeat"])
    return Sample(
        process=number, experiment=step.experiment.id, subject=step.subject.name,
        parameters=step.parameters, round=step.round, repeat=repeat,
        warm_up=step.warm_up or repeat < step.experiment.dropped_repeats,
        values={name: float(value) for name, value in line["values"].items()},
        facts=dict(line.get("facts") or {}),
    )


def _keep(line: Line, found: Collected) -> None:
    match line.get("kind"):
        case "start":
            found.start = line
        case "end":
            found.end = line
        case "check":
            found.checks.append({key: value for key, value in line.items() if key != "kind"})
        case "refused":
            found.refused = f"{line.get('what', '')}: {line.get('reason', '')}"


def _outcome(ending: Ending, found: Collected) -> tuple[Status, str]:
    wrong = next((check for check in found.checks if not check.get("ok", True)), None)
    if wrong is not None or ending.exit_code == WORK_IS_WRONG:
        return "failed", f"a check of the work failed: {(wrong or {}).get('detail', 'see stderr')}"
    if ending.exit_code != 0:
        return "failed", f"exit code {ending.exit_code}"
    if not found.end:
        return "failed", "it ended without its last line"
    if found.malformed:
        return "failed", f"{found.malformed} of its sample lines cannot be understood"
    return "ok", ""


def _facts(ending: Ending, found: Collected, status: Status) -> dict[str, Any]:
    facts = {
        **ending.facts, "exit_code": ending.exit_code, "signal": ending.signal,
        "start": found.start, "end": found.end, "checks": found.checks,
    }
    if ending.noise:
        facts["noise_lines"] = ending.noise
    if status != "ok":
        facts["stderr_tail"] = ending.stderr.decode(errors="replace")
    return facts
