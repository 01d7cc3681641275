"""The library plants what it records, and the counts of planted effects are right."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from heapwise.model import LauncherFacts
from workshop.planted.judged import Effect, Looked
from workshop.planted.measure import ORDER, chosen
from workshop.planted.page import lines, page, summary
from workshop.planted.plant import Paid, build_plant, new_record, read_record, true_ratio
from workshop.planted.verb import is_lacking

ROOT = Path(__file__).resolve().parents[3]
WORK = "x = [str(i) for i in range({})]"
TRIES = 5


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return build_plant(tmp_path_factory.mktemp("plant"))


def cpu_s(library: Path, percent: float, record: Path, *words: str) -> float:
    """The processor time of the program and its children."""
    variables = {"PLANT_PERCENT": f"{percent:g}", "PLANT_RECORD": str(record)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=os.environ | variables | {"LD_PRELOAD": str(library)}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def python(loops: int) -> list[str]:
    return [sys.executable, "-S", "-c", WORK.format(loops)]


def test_the_recorded_share_is_that_of_the_setting(library: Path, tmp_path: Path) -> None:
    record = new_record(tmp_path / "record")
    used_s = cpu_s(library, 30, record, *python(500_000))
    [paid] = read_record(record)
    planted_s = paid.planted_ns * 1e-9
    assert 1.25 < used_s / (used_s - planted_s) < 1.35


def test_the_planted_time_is_seen_from_outside(library: Path, tmp_path: Path) -> None:
    """By the shortest of several runs: others disturb the rest."""
    shortest = {
        percent: min(
            cpu_s(library, percent, new_record(tmp_path / "record"), *python(500_000))
            for _ in range(TRIES)
        )
        for percent in (0, 50)
    }
    assert 1.25 < shortest[50] / shortest[0] < 1.75


def test_nothing_is_planted_with_a_share_of_zero(library: Path, tmp_path: Path) -> None:
    record = new_record(tmp_path / "record")
    cpu_s(library, 0, record, *python(200_000))
    assert [paid.planted_ns for paid in read_record(record)] == [0]


def test_children_and_images_that_follow_count_for_the_program_that_started_them(
    library: Path, tmp_path: Path
) -> None:
    record = new_record(tmp_path / "record")
    loop = " ".join(f"'{word}'" for word in python(300_000))
    script = f"{loop}; ({loop}) & wait; exec {loop}"
    used_s = cpu_s(library, 30, record, "sh", "-c", script)
    [paid] = read_record(record)
    planted_s = paid.planted_ns * 1e-9
    assert 1.22 < used_s / (used_s - planted_s) < 1.35


def test_each_start_has_its_own_record(library: Path, tmp_path: Path) -> None:
    record = new_record(tmp_path / "record")
    for loops in (100_000, 400_000):
        cpu_s(library, 50, record, *python(loops))
    first, second = read_record(record)
    assert first.started_ns < second.started_ns
    assert 0 < 2 * first.planted_ns < second.planted_ns


def facts(start_ns: int, end_ns: int, cpu_s: float) -> LauncherFacts:
    return LauncherFacts(start_ns=start_ns, end_ns=end_ns, user_s=cpu_s, system_s=0.0)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ([Paid(15, 100_000_000)], 1.25),
        ([Paid(5, 1), Paid(15, 0), Paid(25, 1)], 1.0),
        ([Paid(5, 1)], None),
        ([Paid(12, 1), Paid(15, 1)], None),
    ],
    ids=["planted", "of other processes", "not recorded", "two starts"],
)
def test_the_truth_of_a_process_is_that_of_the_start_in_its_time(
    record: list[Paid], expected: float | None
) -> None:
    assert true_ratio(facts(10, 20, 0.5), record) == pytest.approx(expected)


def effect(percent: float, verdict: str, low: float | None, high: float | None) -> Effect:
    return Effect(
        planted=percent,
        quantity="side_by_side",
        true=percent,
        found=None if low is None or high is None else (low + high) / 2,
        low=low,
        high=high,
        verdict=verdict,
        n=9,
        known=9,
    )


LOOKED = [
    Looked("jq", "jq", "a1", "", [effect(2, "cannot tell", 1, 3), effect(5, "worse", 6, 7)]),
    Looked("git", "git", "a2", "", [effect(2, "better", -3, -1), effect(5, "worse", 4, 6)]),
    Looked("lua", "lua", "a3", "", [effect(2, "cannot tell", None, None)]),
    Looked("tcl", "tcl", "", "it failed"),
]


def test_wrong_directions_and_misses_are_counted() -> None:
    text = "\n".join(summary(LOOKED))
    assert "3 programs, 5 effects, 4 with an interval" in text
    assert "Direction wrong: 1 " in text
    assert "misses the true effect: 2 of 4, 50.0%" in text
    assert "2 % told, side by side: 0 of 3." in text
    assert "5 % told, side by side: 2 of 2." in text
    assert "Found minus true, side by side: +0.00 points" in text


def test_the_page_has_each_effect_and_what_was_not_measured() -> None:
    text = page(LOOKED, ["perl_xs"], "python -m workshop planted", ["title", "how"])
    assert all(line in text for line in lines(LOOKED))
    assert "- tcl: it failed" in text
    assert "- not installed: perl_xs" in text
    assert sum(line.startswith("| ") for line in text.splitlines()) == 2 + 5


def test_programs_that_are_missing_are_replaced_and_named() -> None:
    found, missing = chosen(3)
    assert len(found) == 3
    names = ORDER.read_text().split()
    assert set(missing) <= set(names)
    last = names.index(found[-1].name)
    assert set(names[: last + 1]) == {program.name for program in found} | set(missing)


def test_a_program_that_was_looked_at_is_not_measured_again(tmp_path: Path) -> None:
    [program], _ = chosen(1, ["bash"])
    before = Looked(program.name, program.title, "a1", "", [effect(2, "worse", 1, 3)])
    (tmp_path / "looked").mkdir()
    (tmp_path / "looked" / "bash.json").write_bytes(msgspec.json.encode(before))
    words = ["planted", "--programs", "bash", "--folder", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "workshop", *words, "--page", str(tmp_path / "page.md")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1 program, 1 effect" in done.stdout
    assert not (tmp_path / "bash").exists()
    assert msgspec.json.decode((tmp_path / "planted.json").read_bytes(), type=list[Looked]) == [
        before
    ]
    assert "| bash |" in (tmp_path / "page.md").read_text()


def test_a_look_that_failed_is_repeated() -> None:
    assert is_lacking(None)
    assert [is_lacking(looked) for looked in LOOKED] == [False, False, False, True]
