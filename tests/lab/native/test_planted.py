"""A cost that is planted in every operation is found again, in one experiment of each family."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.model import Experiment
from heapwise.stats.ratios.paired import PairedRatio, paired_ratio
from heapwise.wording.numbers import TIME_UNITS

ROOT = Path(__file__).resolve().parents[3]
ROUNDS, REPEATS = 7, 4
TIMES = 2.0
"""The planted cost is that of the operation, so everything takes twice as long."""

ALLOWED = 0.25
"""On a machine that is shared: far less than what was planted, and more than its noise."""

TRIES = 3
"""A machine whose speed changes in the middle shows another ratio, but not each time."""

CHOSEN = {
    "concurrency": "concurrency/mutex_vs_atomic",
    "heap": "heap/pair",
    "pool": "pool/interleaved",
}
"""Where the first of a family is not good: its value is not the time of its region, or it takes
two processors for itself."""


UNTIMED = {"attacks"}
"""What their regions take is not a result."""


def _native_folder() -> Path | None:
    named = os.environ.get("HEAPWISE_NATIVE")
    built = [p.parent for p in ROOT.glob("build/*/native/heapwise-launch")]
    newest = max(built, key=lambda p: (p / "heapwise-launch").stat().st_mtime, default=None)
    return Path(named) if named else newest


def describe(binary: Path) -> Experiment:
    done = subprocess.run([str(binary), "--describe"], capture_output=True, timeout=120, check=True)
    return msgspec.json.decode(done.stdout, type=Experiment)


def is_speed(experiment: Experiment) -> bool:
    first = experiment.quantities[0]
    return first.unit in TIME_UNITS or (first.better == "higher" and first.unit.endswith("/s"))


def one_of_each_family() -> list[Any]:
    folder = _native_folder()
    binaries = sorted((folder / "experiments").glob("*/*")) if folder else []
    found: dict[str, list[tuple[Path, Experiment]]] = {}
    for binary in (b for b in binaries if b.is_file() and os.access(b, os.X_OK)):
        experiment = describe(binary)
        found.setdefault(experiment.family, []).append((binary, experiment))
    chosen = []
    for family, members in found.items():
        if family in UNTIMED:
            continue
        named = [m for m in members if m[1].id == CHOSEN.get(family)]
        timed = [m for m in members if is_speed(m[1])]
        binary, experiment = (named or timed or members)[0]
        chosen.append(pytest.param(binary, experiment, id=experiment.id))
    return chosen


FAMILIES = one_of_each_family()


def samples(binary: Path, subject: str, *more: str) -> list[dict[str, Any]]:
    command = [str(binary), "--subject", subject, "--smoke", "--repeats", str(REPEATS), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert ("plant_ns" in lines[0]) == ("--plant-ns" in more)
    return [line for line in lines if line["kind"] == "sample"]


def best(found: list[dict[str, Any]], experiment: Experiment) -> float:
    """As a time: what somebody else's work disturbs least."""
    first = experiment.quantities[0]
    values = [float(sample["values"][first.name]) for sample in found]
    return min(values) if first.better == "lower" else 1 / max(values)


def slowed_down(binary: Path, experiment: Experiment, share: float) -> PairedRatio:
    """Time with a planted cost of ``share`` of an operation over time without, round by round."""
    subject = experiment.baseline.partition("@")[0]
    above, below = [], []
    for round_ in range(ROUNDS):
        seed = ("--seed", str(round_))
        plain = samples(binary, subject, *seed)
        operation_ns = min(s["facts"]["elapsed_ns"] / s["facts"]["operations"] for s in plain)
        planted = samples(
            binary, subject, *seed, "--self-test", "--plant-ns", f"{operation_ns * share:.6f}"
        )
        below.append(best(plain, experiment))
        above.append(best(planted, experiment))
    return paired_ratio(above, below)


@pytest.mark.alone
@pytest.mark.parametrize(("binary", "experiment"), FAMILIES)
def test_a_planted_cost_is_recovered_within_its_interval(
    binary: Path, experiment: Experiment
) -> None:
    found: list[str] = []
    for _ in range(TRIES):
        ratio = slowed_down(binary, experiment, TIMES - 1)
        assert ratio.low is not None
        assert ratio.high is not None
        found.append(f"{ratio.ratio:.2f}, {ratio.low:.2f} to {ratio.high:.2f}")
        if ratio.low <= TIMES * (1 + ALLOWED) and ratio.high >= TIMES * (1 - ALLOWED):
            return
    pytest.fail(f"planted {TIMES:.2f}, found {'; '.join(found)}")


def test_every_family_has_one() -> None:
    native = {p.parent.name for p in ROOT.glob("experiments/*/*.cpp")}
    assert {param.values[1].family for param in FAMILIES} == native - UNTIMED


def test_nobody_plants_by_accident() -> None:
    binary, experiment = FAMILIES[0].values
    subject = experiment.baseline.partition("@")[0]
    done = subprocess.run(
        [str(binary), "--subject", subject, "--smoke", "--plant-ns", "5"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert "--self-test" in done.stderr
    assert done.stdout == ""
