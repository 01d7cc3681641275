"""Every experiment, every subject: what it declares and what it prints at smoke size."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.analysis.verdicts.roles import is_other_pool
from heapwise.catalog.experiments import SHELF
from heapwise.model import Experiment

ROOT = Path(__file__).resolve().parents[3]
LONG = os.environ.get("HEAPWISE_TIER") == "long"
MARGIN = 2000  # calls of malloc that the harness itself may make


def _native_folder() -> Path | None:
    named = os.environ.get("HEAPWISE_NATIVE")
    built = [p.parent for p in ROOT.glob("build/*/native/heapwise-launch")]
    newest = max(built, key=lambda p: (p / "heapwise-launch").stat().st_mtime, default=None)
    return Path(named) if named else newest


def _binaries() -> list[Path]:
    folder = _native_folder()
    found = sorted((folder / "experiments").glob("*/*")) if folder else []
    return [p for p in found if p.is_file() and os.access(p, os.X_OK)]


def describe(binary: Path) -> Experiment:
    done = subprocess.run([str(binary), "--describe"], capture_output=True, timeout=120, check=True)
    return msgspec.json.decode(done.stdout, type=Experiment)


DESCRIBED = [(b, describe(b)) for b in _binaries()]
SUBJECTS = [
    pytest.param(b, e, s.name, id=f"{e.id}:{s.name}") for b, e in DESCRIBED for s in e.subjects
]
EVERY = [pytest.param(b, e, id=e.id) for b, e in DESCRIBED]


def run(
    binary: Path, *arguments: str, environment: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    done = subprocess.run(
        [str(binary), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_source_folder_and_the_built_experiments_agree(native: Path) -> None:
    sources = {f"{p.parent.name}/{p.stem}" for p in ROOT.glob("experiments/*/*.cpp")}
    assert {experiment.id for _, experiment in DESCRIBED} == sources


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_description_is_whole(binary: Path, experiment: Experiment) -> None:
    assert experiment.id == f"{binary.parent.name}/{binary.name}"
    assert experiment.family == binary.parent.name
    for text in (experiment.question, experiment.isolates, experiment.not_shown):
        assert len(text) > 20
    names = [s.name for s in experiment.subjects]
    assert len(set(names)) == len(names)
    assert experiment.baseline.partition("@")[0] in names
    assert all(p.default and p.smoke and p.meaning for p in experiment.parameters)
    assert experiment.repeats > experiment.dropped_repeats >= 0
    assert all(s.available or s.reason for s in experiment.subjects)
    for p in experiment.parameters:
        assert isinstance(p.default[0], str) == bool(p.choices) == (p.least is None)
        assert not p.choices or {*p.default, *p.smoke} <= {*p.choices}
        assert p.least is None or all(v >= p.least for v in (*p.default, *p.smoke))
    for use in (p for p in experiment.parameters if p.name == "touch"):
        assert "none" not in use.default, "a diagnostic, which a run must ask for"


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_its_expectations_can_be_judged(binary: Path, experiment: Experiment) -> None:
    """Its default cells have what each expectation names, and a bound says what would refute it."""
    defaults = {p.name: p.default for p in experiment.parameters}
    for expected in experiment.expectations:
        assert len(expected.says) > 10
        assert expected.quantity in {q.name for q in experiment.quantities}
        assert {expected.subject, expected.over or expected.subject} <= {
            s.name for s in experiment.subjects
        }
        for name, value in [*expected.parameters.items(), *expected.over_parameters.items()]:
            assert value in defaults[name], f"{expected.says}: no default cell has {name} {value}"
        assert expected.at_least > 0 or expected.at_most is not None
        assert expected.over or not expected.over_parameters
        top = expected.at_most if expected.at_most is not None else float("inf")
        assert expected.at_least <= top


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_answers_to_its_question_can_be_compared(binary: Path, experiment: Experiment) -> None:
    defaults = {p.name: p.default for p in experiment.parameters}
    quantities = {q.name for q in experiment.quantities if not q.restates}
    subjects = {s.name for s in experiment.subjects}
    yardsticks = {s.name for s in experiment.subjects if s.yardstick}
    for answer in experiment.answers:
        assert answer.quantity in quantities
        assert {answer.subject, answer.over} <= subjects | {""}
        # A yardstick is never ranked; a subject may be held against one that is named.
        assert len({answer.subject, answer.over} & yardsticks) < 2
        assert answer.over or answer.subject not in yardsticks
        assert answer.subject or not answer.over
        assert (
            not answer.subject
            or answer.over not in (answer.subject, "")
            or (answer.over_parameters)
        ), "a subject is compared with itself in the same cell"
        for name, value in [*answer.parameters.items(), *answer.over_parameters.items()]:
            assert value in defaults[name], f"no default cell has {name} {value}"
    assert {q.restates for q in experiment.quantities} <= quantities | {""}


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_its_page_says_what_the_file_says(binary: Path, experiment: Experiment) -> None:
    """If this fails, write the pages: `heapwise export RUN --format pages -o docs/experiments`."""
    pages = ROOT / "docs" / "experiments"
    if not (pages / "README.md").exists() or experiment.family not in SHELF:
        return
    page = (pages / f"{experiment.id}.md").read_text(encoding="utf-8")
    for text in (experiment.question, experiment.isolates, experiment.not_shown):
        assert text in page
    assert f"({experiment.id}.md)" in (pages / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_list_subjects_is_the_description(binary: Path, experiment: Experiment) -> None:
    done = subprocess.run(
        [str(binary), "--list-subjects"], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == [s.name for s in experiment.subjects]


@pytest.mark.parametrize(("binary", "experiment", "subject"), SUBJECTS)
def test_smoke_prints_the_promised_lines(
    binary: Path, experiment: Experiment, subject: str
) -> None:
    cells = _cells(experiment)
    # In `make test` the first subject has all cells, the others the first one.
    every = LONG or subject == experiment.subjects[0].name
    for setting in cells if every else cells[:1]:
        lines = run(binary, "--subject", subject, "--smoke", *setting)
        kinds = [line["kind"] for line in lines]
        assert kinds[0] == "start"
        _check_start(lines[0], experiment, subject)
        if "refused" in kinds:
            assert kinds == ["start", "refused"]
            assert lines[1]["reason"]
            continue
        assert kinds[-1] == "end"
        assert set(kinds[1:-1]) == {"sample", "check"}
        assert kinds == sorted(kinds, key=["start", "sample", "check", "end"].index)
        for number, sample in enumerate(line for line in lines if line["kind"] == "sample"):
            _check_sample(sample, experiment, number)
        checks = {line["id"]: line for line in lines if line["kind"] == "check"}
        assert {"work", "affinity", "quantities"} <= set(checks)
        assert all(check["ok"] for check in checks.values())


def _cells(experiment: Experiment) -> list[list[str]]:
    """Each smoke value of each parameter once, the others at their first."""
    cells: list[list[str]] = [[]]
    for parameter in experiment.parameters:
        cells += [["--set", f"{parameter.name}={v}"] for v in parameter.smoke[1:]]
    return cells


def _check_start(start: dict[str, Any], experiment: Experiment, subject: str) -> None:
    assert (start["experiment"], start["subject"]) == (experiment.id, subject)
    assert set(start["parameters"]) == {p.name for p in experiment.parameters}
    assert start["affinity"] == sorted(os.sched_getaffinity(0))
    assert start["clock"]["resolution_ns"] > 0
    assert start["clock"]["overhead_ns"] > 0
    assert start["malloc"]["path"].startswith("/")
    assert start["malloc"]["build_id"]
    assert start["compiler"].startswith(("gcc ", "clang "))
    assert "-O" in start["flags"]


def _check_sample(sample: dict[str, Any], experiment: Experiment, number: int) -> None:
    assert sample["repeat"] == number
    assert set(sample["values"]) == {q.name for q in experiment.quantities}
    counted = {q.name for q in experiment.quantities if q.unit.startswith("per ")}
    assert all(v > 0 or (v == 0 and name in counted) for name, v in sample["values"].items())
    facts = sample["facts"]
    assert facts["elapsed_ns"] >= facts["shortest_region_ns"] > 0
    assert facts["operations"] > 0
    assert facts["threads"] >= 1
    assert facts["spin_ns"] == min(facts["spin_before_ns"], facts["spin_after_ns"]) > 0
    assert min(facts["breadth_before_ns"], facts["breadth_after_ns"], facts["waited_ns"]) > 0
    assert set(facts["cpus"]) <= os.sched_getaffinity(0)
    assert facts["cpus"]


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_no_call_of_malloc_is_optimised_away(
    binary: Path, experiment: Experiment, native: Path, tmp_path: Path
) -> None:
    """V4: what the subject expects is what a counting probe sees, give or take the harness."""
    for name in [s.name for s in experiment.subjects if s.kind == "malloc"]:
        out = tmp_path / name
        lines = run(
            binary,
            "--subject",
            name,
            "--smoke",
            environment={
                "LD_PRELOAD": str(native / "libheapwise-count.so"),
                "HEAPWISE_COUNT_OUT": str(out),
            },
        )
        expected = lines[-1]["expected_calls"]
        counted = [json.loads(line)["calls"] for line in out.read_text().splitlines()]
        seen = sum(c[k] for c in counted for k in ("malloc", "calloc", "realloc", "aligned"))
        assert expected > 0
        assert expected <= seen <= expected + MARGIN


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_timed_regions_of_other_subjects_do_not_call_malloc_per_block(
    binary: Path, experiment: Experiment, native: Path, tmp_path: Path
) -> None:
    ours = ("unsynchronized", "mutex", "lock_free", "thread_cached", "thread_cached_handle")
    for name in [s.name for s in experiment.subjects if s.name in ours]:
        out = tmp_path / name
        run(
            binary,
            "--subject",
            name,
            "--smoke",
            environment={
                "LD_PRELOAD": str(native / "libheapwise-count.so"),
                "HEAPWISE_COUNT_OUT": str(out),
            },
        )
        assert json.loads(out.read_text())["calls"]["malloc"] <= MARGIN


@pytest.mark.parametrize(("quiet_ns", "least_ms"), [("1", 60), ("1000000000", 0)])
def test_it_waits_for_a_core_of_its_own_and_no_longer(
    native: Path, quiet_ns: str, least_ms: int
) -> None:
    """No core is as quick as 1 ns; and none takes a second, so then there is nothing to wait for.
    The upper bound leaves room for a machine that runs other tests, and one that stands still for
    a second does not do so each time."""
    binary = native / "experiments" / "cpu" / "ilp"
    subject = describe(binary).subjects[0].name
    waited_ms: list[float] = []
    for _ in range(3):
        lines = run(
            binary,
            "--subject",
            subject,
            "--smoke",
            "--repeats",
            "4",
            "--quiet-ns",
            quiet_ns,
            "--patience-ms",
            "60",
        )
        waited_ms.append(
            sum(line["facts"]["waited_ns"] for line in lines if line["kind"] == "sample") / 1e6
        )
        assert waited_ms[-1] >= least_ms
        if waited_ms[-1] < least_ms + 1000:
            break
    assert min(waited_ms) < least_ms + 1000


BAD = [
    [],
    ["--subject", "nobody"],
    ["--subject"],
    ["--set", "colour=red", "--describe"],
    ["--repeats", "0", "--describe"],
    ["--unknown", "x"],
    ["extra"],
]
"""All experiments have one reader of options: in `make test` one of them gets all of these."""


@pytest.mark.parametrize(
    ("binary", "arguments"),
    [
        pytest.param(
            binary,
            arguments,
            id=f"{experiment.id}-{' '.join(arguments)}",
            marks=[pytest.mark.long] if number and arguments != BAD[1] else [],
        )
        for number, (binary, experiment) in enumerate(DESCRIBED)
        for arguments in BAD
    ],
)
def test_bad_usage_says_what_why_next(binary: Path, arguments: list[str]) -> None:
    done = subprocess.run([str(binary), *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error E003: ")
    assert "\n  do: " in done.stderr


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_a_process_refuses_what_its_description_does_not_allow(
    binary: Path, experiment: Experiment
) -> None:
    """So the command, which refuses that before it starts a process, refuses no other value."""
    for p in experiment.parameters:
        wrong = "no-such-word" if p.least is None else str(p.least - 1)
        right = p.choices[-1] if p.least is None else str(p.least)
        for word, code in ((wrong, 2), (right, 0)):
            done = subprocess.run(
                [str(binary), "--describe", "--set", f"{p.name}={word}"],
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert done.returncode == code, f"{p.name}={word}: {done.stderr}"


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_reader_that_goes_away_is_not_waited_for(binary: Path, experiment: Experiment) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(binary), "--describe"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert done.returncode == 70
    assert "E070" in done.stderr


@pytest.mark.parametrize(("binary", "experiment"), EVERY)
def test_the_same_seed_repeats_the_same_cell(binary: Path, experiment: Experiment) -> None:
    name = experiment.subjects[0].name
    starts = [run(binary, "--subject", name, "--smoke", "--seed", "7")[0] for _ in range(2)]
    assert starts[0]["seed"] == starts[1]["seed"] == 7
    assert starts[0]["parameters"] == starts[1]["parameters"]


TWO_BUILDS = [(b, e) for b, e in DESCRIBED if any(p.name == "build" for p in e.parameters)]


def measured(binary: Path, experiment: Experiment, build: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [str(binary), "--subject", experiment.baseline, "--set", f"build={build}", "--smoke"],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("binary", "experiment"), TWO_BUILDS, ids=[e.id for _, e in TWO_BUILDS])
def test_another_build_says_its_own_flags(binary: Path, experiment: Experiment) -> None:
    usual, other = (measured(binary, experiment, build) for build in ("O2", "O3_native"))
    if other[-1]["kind"] == "refused":
        assert not (binary.parent / "O3_native" / binary.name).exists()
        pytest.skip(other[-1]["reason"])
    assert usual[0]["flags"] != other[0]["flags"]
    assert other[0]["flags"].endswith("-O3 -march=native")
    assert other[0]["parameters"]["build"] == "O3_native"
    for lines in (usual, other):
        assert sum(line["kind"] == "sample" for line in lines) == 2
        assert lines[-1]["kind"] == "end"


@pytest.mark.skipif(not TWO_BUILDS, reason="no experiment with two builds was built")
def test_a_build_that_is_missing_is_refused(tmp_path: Path) -> None:
    binary, experiment = TWO_BUILDS[0]
    (tmp_path / "alone").write_bytes(binary.read_bytes())
    (tmp_path / "alone").chmod(0o755)
    start, end = measured(tmp_path / "alone", experiment, "O3_native")
    assert start["kind"] == "start"
    assert end["kind"] == "refused"
    assert end["what"] == "build"


@pytest.mark.parametrize(
    ("binary", "experiment"), [p for p in EVERY if p.id and p.id.startswith(("pool/", "arena/"))]
)
def test_no_subject_with_our_code_is_a_rival_of_our_pools(
    binary: Path, experiment: Experiment
) -> None:
    """Aims compare a pool with all others, so our own must be known by their names."""
    ours = [s.name for s in experiment.subjects if re.search(r"heapwise::|\bpool<", s.title)]
    assert [name for name in ours if is_other_pool(name)] == []
    if ours:
        assert any(is_other_pool(s.name) for s in experiment.subjects)
