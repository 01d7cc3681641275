"""Executes steps whose subject is a program: it is timed from outside, and its output is known."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from heapwise.catalog import expected_output, tree_output
from heapwise.model import Plan, Process, SubjectSpec
from heapwise.model.build import filled
from heapwise.runner.campaign.executor import Sink, now
from heapwise.runner.campaign.steps import Step
from heapwise.runner.executors.whole_program import measured_values
from heapwise.runner.process.environment import of_child, padding
from heapwise.runner.process.launch import Launch, launch, tail
from heapwise.runner.process.process_status import Reference, first_difference, judge
from heapwise.runner.process.stop_switch import StopSwitch

REPORT = re.compile(rb"^heapwise-trees:(.*)$", re.MULTILINE)
"""The line in which a runtime tells what it knows of itself: ``collections=3 longest_pause_s=0.1``.
"""

TRY_DEPTH, TRY_S = 6, 60.0


@dataclass
class RowRunner:
    """``probe``: preloaded beside a peer, to prove it; "" without one. ``folder`` is ours."""

    plan: Plan
    environment: dict[str, str]
    probe: str
    folder: Path

    def execute(
        self, step: Step, number: int, stop: StopSwitch, record: Sink, timeout_s: float
    ) -> Process:
        """A sample only of a process that ended well and printed exactly what it had to."""
        started_at = now()
        outcome = launch(self._launch(step, number, timeout_s), self.folder, stop)
        expected = expected_output(step.experiment, step.parameters)
        status, reason = judge(outcome, step.subject.peer, Reference(output=expected))
        said = reported(outcome.stderr)
        facts = structs.replace(outcome.facts, reported=said)
        if status == "ok":
            quantities = step.experiment.quantities
            declared = {quantity.name for quantity in quantities}
            values = measured_values(outcome.facts, quantities) | said
            record(step.sample(number, {name: v for name, v in values.items() if name in declared}))
        else:
            facts = structs.replace(facts, stderr_tail=tail(outcome.stderr))
        return step.process(number, started_at, status, reason, facts, outcome.identity)

    def _launch(self, step: Step, number: int, timeout_s: float) -> Launch:
        """Only under a peer anything is preloaded: a runtime of its own is measured as it is."""
        spec, peer = step.spec, step.subject.peer
        assert spec is not None
        libraries = (peer.path or "", self.probe) if peer else ()
        environment = of_child(
            peer, self.environment | spec.environment, libraries, padding(self.plan.seed, number)
        )
        return Launch(
            [filled(word, step.parameters) for word in spec.command],
            environment,
            timeout_s,
            cpus=self.plan.options.cpus,
            keeps_output=True,
        )


def reported(stderr: bytes) -> dict[str, float]:
    """The last such line of stderr, without the units in its names; words that are not numbers
    are left out."""
    lines = REPORT.findall(stderr)
    found: dict[str, float] = {}
    for word in lines[-1].decode(errors="replace").split() if lines else []:
        name, _, value = word.partition("=")
        try:
            found[name.removesuffix("_s")] = float(value)
        except ValueError:
            continue
    return found


def row_trouble(spec: SubjectSpec) -> str:
    """What is wrong with a row, tried once with small trees; "" when it does its work."""
    parameters = {"depth": TRY_DEPTH}
    command = [filled(word, parameters) for word in spec.command]
    try:
        done = subprocess.run(
            command,
            env=os.environ | spec.environment,
            capture_output=True,
            timeout=TRY_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        return f"it ended with {done.returncode}: {words[-1] if words else 'and said nothing'}"
    expected = tree_output(TRY_DEPTH)
    return "" if done.stdout == expected else first_difference(done.stdout, expected)
