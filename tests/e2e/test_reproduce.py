"""Published reports, from the command to the files; small, but with real processes."""

from __future__ import annotations

import csv
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from test_interrupted import PATIENCE_S, start, wait_for_lines

from heapwise.store import read_run, run_ids

REPORTS = {
    "pool-policies": 2,
    "pool-vs-malloc": 2,
    "latency-lab": 48,
    "binary-trees": 2,
    "allocatorbench": 7,
}
"""Report -> its pictures."""

LONG = {"latency-lab", "allocatorbench", "pool-vs-malloc"}
"""Their experiments take longest, and go the same way through the command."""

FAKE = """
title = "A report of a fake"
origin = "The tests"
[machine.none]
title = "No machine"
[[table]]
name = "pairs"
title = "Pairs"
machine = "none"
unit = "ns/op"
experiment = "fake/subjects"
quantity = "pair"
parameters = {size = 8}
  [[table.row]]
  title = "good"
  name = "good"
  subject = "good"
  values = [10]
  [[table.row]]
  title = "slower"
  name = "slower"
  subject = "slower"
  values = [25]
[[conclusion]]
says = "It is slower."
shows = ["slower / good >= 1.5"]
[[conclusion]]
says = "It is three times as slow."
shows = ["slower / good >= 3"]
"""


HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "add-published-report.md"


def report_of_the_how_to() -> str:
    blocks = re.findall(r"^ *```toml\n(.*?)^ *```", HOW_TO.read_text(), re.DOTALL | re.MULTILINE)
    return "".join(blocks)


@pytest.mark.usefixtures("built_native")
def test_the_example_of_the_how_to_can_be_planned(heapwise: Any, tmp_path: Path) -> None:
    (tmp_path / "my-report.toml").write_text(report_of_the_how_to())
    done = heapwise("reproduce", "./my-report.toml", "--dry-run")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("built_native")
def test_a_quantity_that_no_experiment_has_is_named_before_the_run(
    heapwise: Any, tmp_path: Path
) -> None:
    text = report_of_the_how_to().replace('quantity = "free"', 'quantity = "fre"')
    (tmp_path / "my-report.toml").write_text(text)
    done = heapwise("reproduce", "./my-report.toml", "--dry-run")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "pool/bulk has no quantity fre; did you mean free?" in said


@pytest.mark.usefixtures("built_native")
def test_a_subject_that_no_experiment_has_is_named_before_the_run(
    heapwise: Any, tmp_path: Path
) -> None:
    text = report_of_the_how_to().replace("malloc@glibc", "malloc@glbc")
    (tmp_path / "my-report.toml").write_text(text)
    done = heapwise("reproduce", "./my-report.toml", "--dry-run")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "pool/bulk has no subject malloc@glbc; did you mean malloc@glibc?" in said


@pytest.mark.usefixtures("built_native")
@pytest.mark.parametrize("name", REPORTS)
def test_each_report_can_be_planned(heapwise: Any, name: str) -> None:
    done = heapwise("reproduce", name, "--dry-run")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in REPORTS],
)
def test_a_report_is_reproduced_in_small(
    heapwise: Any, built_native: Path, tmp_path: Path, name: str, assert_went_well: Any
) -> None:
    done = heapwise("reproduce", name, "--smoke", "--json", "-o", "out")
    assert_went_well(done)
    result = json.loads(done.stdout)
    assert result["report"] == name
    assert sum(result["counts"].values()) == len(result["conclusions"]) > 0
    assert result["counts"]["confirmed"] == result["counts"]["refuted"] == 0
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == set(result["files"])
    assert {"figures.csv", "report.html"} <= files
    assert sum(file.endswith(".svg") for file in files) == REPORTS[name]
    lines = list(csv.DictReader((tmp_path / "out" / "figures.csv").read_text().splitlines()))
    missing = {line["note"] for line in lines if line["published"] and not line["ours"]}
    assert all(missing), "a figure that is not here says why"
    assert any(line["ours"] for line in lines)
    assert "Published report" in (tmp_path / "out" / "report.html").read_text()
    written = heapwise("reproduce", name, "--pages", "pages", "--smoke", "--json")
    assert_went_well(written)
    pages = set(json.loads(written.stdout)["files"])
    assert {
        path.relative_to(tmp_path / "pages").as_posix()
        for path in (tmp_path / "pages").rglob("*.*")
    } == pages
    [page] = [path for path in (tmp_path / "pages").glob("*/*.md") if path.stem == name]
    assert "This was a smoke run" in page.read_text()


def test_the_reports_are_listed(heapwise: Any, built_native: Path) -> None:
    done = heapwise("reproduce", "--json")
    assert done.returncode == 0, done.stderr
    listed = {report["name"]: report for report in json.loads(done.stdout)}
    assert set(REPORTS) <= set(listed)
    assert listed["pool-vs-malloc"]["figures"] == 33
    assert listed["pool-vs-malloc"]["last"] is None


def test_a_plan_is_estimated_and_nothing_is_run(
    heapwise: Any, built_native: Path, tmp_path: Path
) -> None:
    done = heapwise("reproduce", "pool-vs-malloc", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["estimated_s"] > 0
    cells = plan["plan"]["options"]["reproduction"]["cells"]
    pairs = {experiment: {cell["iterations"] for cell in cells[experiment]} for experiment in cells}
    assert pairs.pop("pool/interleaved") == {10_000_000}, "longer than the clock needs"
    assert set().union(*pairs.values()) == {1_000_000}
    assert plan["plan"]["options"]["repeats"] == 10
    names = {subject["name"] for subject in plan["plan"]["subjects"]}
    assert names == {
        "unsynchronized",
        "mutex",
        "lock_free",
        "thread_cached",
        "malloc@glibc",
        "malloc@glibc-control",
    }
    assert not (tmp_path / "store" / "runs").exists()


def test_a_report_of_the_user_is_judged_stopped_and_resumed(
    heapwise: Any, environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    (tmp_path / "mine.toml").write_text(FAKE)
    store = tmp_path / "store"
    child = start(environment, tmp_path, "reproduce", "mine.toml", "--rounds", "20")
    wait_for_lines(store, 12)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, said
    [run] = run_ids(store)
    assert f"go on: heapwise resume {run}" in said
    done = heapwise("resume", run)
    assert done.returncode == 0, done.stderr
    assert re.search(r"confirmed +It is slower\.\n +slower / good >= 1\.5: 2\.00", done.stdout)
    assert re.search(r"refuted +It is three times as slow\.", done.stdout)
    assert "2 conclusions: 1 confirmed, 1 refuted, 0 no such effect" in done.stdout
    stored = read_run(store, run)
    assert {process.parameters["size"] for process in stored.processes} == {8}
    assert {process.subject for process in stored.processes} == {"good", "good-control", "slower"}
    folder = Path(re.search(r"files in (.+)\n", done.stdout)[1])  # type: ignore[index]
    assert (folder / "pairs.svg").exists()
    again = heapwise("reproduce", "mine.toml", "--run", run, "-o", "again")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again" / "figures.csv").read_bytes() == (
        folder / "figures.csv"
    ).read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no-such-report"], "no published report is called 'no-such-report'"),
        (["nowhere.toml"], "does not hold a published report"),
        (["pool-vs-malloc", "--set", "iterations=1,2"], "reproduced with one value"),
        (["pool-vs-malloc", "--run", "abcd"], "abcd"),
        (["--pages", "pages"], "the store has no run of a published report yet"),
    ],
)
def test_a_report_that_cannot_be_reproduced_is_named_with_the_reason(
    heapwise: Any, built_native: Path, words: list[str], said: str
) -> None:
    done = heapwise("reproduce", *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_of_another_verb_is_read_with_its_settings(
    heapwise: Any, environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    (tmp_path / "mine.toml").write_text(FAKE)
    assert (
        heapwise(
            "run", "fake/subjects", "--subjects", "slower", "--set", "size=16", "--rounds", "7"
        ).returncode
        == 0
    )
    done = heapwise("reproduce", "mine.toml", "--run", "last", "--set", "size=16", "--strict")
    assert done.returncode == 0, done.stderr
    assert "Measured with size 16 instead of the report's." in done.stdout
    assert re.search(r"confirmed +It is slower\.", done.stdout)
    assert re.search(r"refuted +It is three times as slow\.", done.stdout)
    asked = heapwise("reproduce", "mine.toml", "--run", "last")
    assert "cannot tell here   It is slower." in asked.stdout


def test_figures_that_are_not_trustworthy_end_with_4_if_strict(
    heapwise: Any, environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    """The fake says that its malloc is glibc's, whatever is preloaded."""
    from heapwise.catalog import system_library

    environment |= {"HEAPWISE_NATIVE": str(fake_native), "FAKE_MALLOC": system_library()}
    (tmp_path / "mine.toml").write_text(
        FAKE.replace("fake/subjects", "fake/single")
        .replace('"good"', '"malloc@glibc"')
        .replace('"slower"', '"malloc@jemalloc"')
        .replace('name = "malloc@glibc"', 'name = "good"')
        .replace('name = "malloc@jemalloc"', 'name = "slower"')
    )
    done = heapwise("reproduce", "mine.toml", "--rounds", "2", "--strict")
    assert done.returncode == 4, (done.stdout, done.stderr)
    assert heapwise("resume", "last", "--strict").returncode == 4
    assert heapwise("resume", "last").returncode == 0


def test_the_output_of_an_author_stays_with_the_run(
    heapwise: Any, environment: dict[str, str], fake_native: Path, tmp_path: Path
) -> None:
    """It is read before anything is measured; a later look at the run may have another file."""
    environment["HEAPWISE_NATIVE"] = str(fake_native)
    author = 'title = "{}"\n  author = {{command = "./{}", value = "real", scale = 1e-9}}'
    text = FAKE
    for name in ("good", "slower"):
        text = text.replace(f'title = "{name}"', author.format(name, name))
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "bad.txt").write_text("./good\nreal 1.0\nuser 1.0\n")
    (tmp_path / "good.txt").write_text(
        "".join(
            f"./{name}\nreal 0m{seconds}s\nuser 0m1.0s\nsys 0m0.0s\n"
            for name, seconds in (("good", 1.0), ("slower", 4.0))
        )
    )
    words = ["reproduce", "mine.toml", "--rounds", "2", "--author-output"]
    refused = heapwise(*words, "bad.txt")
    assert refused.returncode == 2
    assert "bad.txt, line 3: the time before it is not complete: sys is missing" in " ".join(
        refused.stderr.split()
    )
    store = tmp_path / "store"
    assert not (store / "runs").exists(), "nothing was measured"
    assert heapwise(*words, "good.txt", "--pages", "p").returncode == 2
    done = heapwise(*words, "good.txt")
    assert done.returncode == 0, done.stderr
    for line in ("the author's program: confirmed: slower / good >= 3: 4.00", "2 confirmed."):
        assert line in done.stdout
    [run] = run_ids(store)
    (tmp_path / "good.txt").unlink()
    again = heapwise("reproduce", "mine.toml", "--run", run, "-o", "again")
    assert "the author's program: confirmed: slower / good >= 3: 4.00" in again.stdout
    assert "the author&#39;s program" in (tmp_path / "again" / "report.html").read_text()
    (tmp_path / "other.txt").write_text("./slower  2.0s user 0.0s system 99% cpu 2.0 total\n")
    other = heapwise("reproduce", "mine.toml", "--run", run, "--author-output", "other.txt")
    assert other.returncode == 0, other.stderr
    assert "has figures for 0 of 2 conclusions." in " ".join(other.stdout.split())
