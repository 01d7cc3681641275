"""The library plants what it records, and the counts of planted effects are right."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from heapwise.document.markdown import markdown
from heapwise.model import Beside, ProcessFacts
from workshop.planted.judged import Effect, Looked
from workshop.planted.measure import ORDER, chosen
from workshop.planted.page import effect_table, page, summary
from workshop.planted.plant import Dose, Paid, build_plant, new_record, own_s, read_record
from workshop.planted.ready import CannotPlant, Ready, shortened
from workshop.planted.truth import (
    TRIAL,
    Alone,
    Truth,
    doses,
    one_processor,
    run_alone,
    truth_of,
    truth_there,
)
from workshop.planted.verb import is_lacking
from workshop.planted.whole_runs import WholeRuns, build_again, fewest_runs
from world.program import all_programs

ROOT = Path(__file__).resolve().parents[3]
WORK = "x = [str(i) for i in range({})]"
TRIES = 5
EVENLY = [0.98, 0.985, 0.99, 1.0, 1.01, 1.015, 1.02]
NARROWLY = [0.998, 0.9985, 0.999, 1.0, 1.001, 1.0015, 1.002]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return build_plant(tmp_path_factory.mktemp("plant"))


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Python takes small blocks from its own pools: then it hardly looks."""
    return os.environ | {"PYTHONMALLOC": "malloc"} | variables


def python(loops: int) -> list[str]:
    return [sys.executable, "-S", "-c", WORK.format(loops)]


def alone(library: Path, dose: Dose, record: Path, *words: str) -> Alone:
    def run(variables: Mapping[str, str]) -> None:
        subprocess.run(words, env=environment(variables), check=True)

    return run_alone(run, library, dose, record)


def test_a_program_that_allocates_twice_as_often_looks_twice_as_often(
    library: Path, tmp_path: Path
) -> None:
    once, twice = (
        alone(library, TRIAL, tmp_path / "record", *python(loops)) for loops in (200_000, 400_000)
    )
    assert once.ends == twice.ends == 1
    assert 1.8 < twice.looks / once.looks < 2.1


def quiet_trial(library: Path, record: Path, *words: str) -> Alone:
    """The shortest of several: others disturb the rest, and a dose is made of one."""
    tries = [alone(library, TRIAL, record, *words) for _ in range(TRIES)]
    return min(tries, key=lambda each: each.cpu_s)


def test_a_dose_costs_about_the_percent_that_it_is_for(library: Path, tmp_path: Path) -> None:
    """In one of several turns: the price of memory may change between the trial and the runs."""
    words, record = python(500_000), tmp_path / "record"

    def share() -> float:
        [dose] = doses(quiet_trial(library, record, *words), [30.0]).values()
        assert dose.at_look > 0 == dose.at_end
        runs = [alone(library, dose, record, *words) for _ in range(TRIES)]
        quiet = min(runs, key=lambda each: each.own_s)
        return quiet.planted_s / quiet.own_s

    assert any(0.2 < share() < 0.4 for _ in range(TRIES))


def test_the_planted_time_is_seen_from_outside(library: Path, tmp_path: Path) -> None:
    """By the shortest of several runs, which take turns: others disturb the rest. In one of several
    attempts, as above."""
    words, record = python(500_000), tmp_path / "record"

    def change() -> float:
        [dose] = doses(quiet_trial(library, record, *words), [50.0]).values()
        runs = [
            [alone(library, each, record, *words) for each in (Dose(), dose)] for _ in range(TRIES)
        ]
        plain, planted = (min(run.cpu_s for run in each) for each in zip(*runs, strict=True))
        return planted / plain

    assert any(1.25 < change() < 1.75 for _ in range(TRIES))


def test_a_program_that_hardly_allocates_pays_at_its_end(library: Path, tmp_path: Path) -> None:
    trial = alone(library, TRIAL, tmp_path / "record", "true")
    [dose] = doses(trial, [10.0]).values()
    assert dose.at_end > 0 == dose.at_look


def test_a_program_without_a_place_for_work_is_refused() -> None:
    with pytest.raises(CannotPlant, match="neither allocates nor ends by exit"):
        doses(Alone(cpu_s=1, planted_s=0, looks=0, ends=0), [10.0])


def test_almost_nothing_is_planted_without_a_dose(library: Path, tmp_path: Path) -> None:
    """By the smallest share of several runs: under a busy hypervisor a look at the clock takes
    longer."""
    words, record = python(200_000), tmp_path / "record"
    runs = [alone(library, Dose(), record, *words) for _ in range(TRIES)]
    assert 0 < min(run.planted_s / run.own_s for run in runs) < 0.1


def test_children_and_images_that_follow_count_for_the_program_that_started_them(
    library: Path, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    loop = " ".join(f"'{word}'" for word in python(300_000))
    single = alone(library, TRIAL, record, *python(300_000))
    script = f"{loop}; ({loop}) & wait; exec {loop}"
    run = alone(library, TRIAL, record, "sh", "-c", script)
    assert len(read_record(record)) == 1
    assert 2.7 < run.looks / single.looks < 3.3


def test_each_start_has_its_own_record(library: Path, tmp_path: Path) -> None:
    record = new_record(tmp_path / "record")
    variables = Dose(at_look=5000).variables(record) | {"LD_PRELOAD": str(library)}
    for loops in (100_000, 400_000):
        subprocess.run(python(loops), env=environment(variables), check=True)
    first, second = read_record(record)
    assert first.started_ns < second.started_ns
    assert 0 < 2 * first.looks < second.looks


def test_a_process_that_starts_on_one_processor_sees_one() -> None:
    words = [sys.executable, "-S", "-c", "import os; print(len(os.sched_getaffinity(0)))"]
    usual = len(os.sched_getaffinity(0))
    with one_processor():
        inside = subprocess.run(words, capture_output=True, check=True).stdout
    after = subprocess.run(words, capture_output=True, check=True).stdout
    assert (int(inside), int(after)) == (1, usual)


def runs_of(own_s: float, planted_s: float, spread: Sequence[float] = EVENLY) -> list[Alone]:
    return [Alone(own_s * x + planted_s, planted_s, 9, 1) for x in spread]


def test_the_truth_is_what_was_planted_over_the_own_work_of_all_runs() -> None:
    truth = truth_of(10, runs_of(2.0, 0.2), runs_of(2.0, 0.0))
    assert truth.effect == pytest.approx(10)
    assert truth.own == pytest.approx(0)
    assert 0 < truth.error < 0.2


def test_own_work_that_surely_became_dearer_is_a_part_of_the_truth() -> None:
    truth = truth_of(10, runs_of(2.1, 0.2, NARROWLY), runs_of(2.0, 0.0, NARROWLY))
    assert truth.own == pytest.approx(5)
    assert truth.effect == pytest.approx(15, abs=0.5)


def test_the_truth_leaves_out_own_work_that_may_have_changed_by_chance() -> None:
    truth = truth_of(10, runs_of(2.02, 0.2), runs_of(2.0, 0.0))
    assert truth.own == pytest.approx(1)
    assert truth.effect == pytest.approx(10, abs=0.2)


def test_runs_that_others_disturb_do_not_make_own_work_dearer() -> None:
    """Half of them take 1 s, the others 1.3 s: more of these are beside what was planted."""
    planted = runs_of(1.0, 0.1, [1.0] * 14 + [1.3] * 16)
    truth = truth_of(10, planted, runs_of(1.0, 0.0, [1.0] * 16 + [1.3] * 14))
    assert truth.own == pytest.approx(0)
    assert truth.effect < 11
    assert truth.error > 0.5


def facts(start_ns: int, end_ns: int, cpu_s: float) -> ProcessFacts:
    return ProcessFacts(start_ns=start_ns, end_ns=end_ns, user_s=cpu_s, system_s=0.0)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ([Paid(15, 100_000_000)], 0.4),
        ([Paid(5, 1), Paid(15, 0), Paid(25, 1)], 0.5),
        ([Paid(5, 1)], None),
        ([Paid(12, 100_000_000), Paid(15, 0)], 0.4),
    ],
    ids=["planted", "of other processes", "not recorded", "of two, the first"],
)
def test_the_own_work_of_a_process_is_without_what_was_planted_in_its_time(
    record: list[Paid], expected: float | None
) -> None:
    assert own_s(facts(10, 20, 0.5), record) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("percents", "runs"), [([10.0], 10), ([5.0, 10.0], 20), ([2.0, 10.0], 50), ([2.0, 5.0], 100)]
)
def test_a_process_has_the_fewest_runs_of_which_each_percent_is_whole(
    percents: Sequence[float], runs: int
) -> None:
    assert fewest_runs(percents) == runs


def test_a_percent_without_whole_runs_is_refused() -> None:
    with pytest.raises(CannotPlant, match=r"whole ones for 0\.3 %"):
        fewest_runs([0.3])


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return build_again(tmp_path_factory.mktemp("again"))


def run_again(program: Path, times: int, *words: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"AGAIN_TIMES": str(times)}
    return subprocess.run([program, *words], env=variables, capture_output=True, text=True)


def test_a_program_runs_as_often_as_is_planted_and_is_heard_once(
    again: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    ended = run_again(again, 3, "sh", "-c", f"echo ran >>{log}; echo out; echo err >&2")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "out\n", "err\n")
    assert log.read_text() == "ran\n" * 3
    assert run_again(again, 0, "false").returncode == 0


def test_the_first_run_that_fails_ends_the_process(again: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = f"echo ran >>{log}; test $(wc -l <{log}) -lt 2"
    assert run_again(again, 5, "sh", "-c", script).returncode == 1
    assert log.read_text() == "ran\n" * 2
    assert run_again(again, 1, "sh", "-c", "kill -TERM $$").returncode == 128 + 15
    missing = run_again(again, 1, "/no/such/program")
    assert (missing.returncode, missing.stderr) == (
        127,
        "again: /no/such/program: No such file or directory\n",
    )


def slow_program(tmp_path: Path) -> Ready:
    program = next(each for each in all_programs() if each.name == "bash")
    words = [sys.executable, "-S", "-c", "sum(range(1_000_000))"]
    return Ready(program, words, tmp_path, leaves_files=False)


def test_whole_runs_plant_their_share_of_all_except_the_start(tmp_path: Path) -> None:
    planted = WholeRuns(slow_program(tmp_path), [10.0], 600)
    assert [each["AGAIN_TIMES"] for each in planted.subjects.values()] == ["10", "11"]
    for truths in planted.truths().values():
        assert 9.5 < truths[10.0].effect < 10


def test_a_program_that_is_too_slow_for_its_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotPlant, match=r"10 runs take .* s, too long for 1 s"):
        WholeRuns(slow_program(tmp_path), [10.0], 1)


def effect(
    percent: float, verdict: str, low: float | None, high: float | None, error: float = 0
) -> Effect:
    return Effect(
        true=Truth(planted=percent, effect=percent, error=error, own=0, rounds=9),
        quantity="side_by_side",
        found=None if low is None or high is None else (low + high) / 2,
        low=low,
        high=high,
        own=0.5,
        verdict=verdict,
        n=9,
    )


@pytest.mark.parametrize(
    ("low", "high", "error", "holds"),
    [(9, 12, 0, True), (10.1, 12, 0, False), (10.1, 12, 0.5, True), (8, 9.9, 0, False)],
)
def test_an_interval_holds_the_truth_with_the_errors_of_both(
    low: float, high: float, error: float, holds: bool
) -> None:
    assert effect(10, "worse", low, high, error).holds is holds


def test_an_interval_is_judged_by_what_was_planted_in_its_own_comparison() -> None:
    there = Truth(planted=10, effect=18, error=0, own=0, rounds=9)
    found = msgspec.structs.replace(effect(10, "worse", 17, 19), there=there)
    assert found.holds is found.holds_truth(there) is True
    assert found.holds_truth(found.true) is False
    assert effect(10, "worse", 17, 19).holds is False


def test_an_interval_may_lie_between_what_is_true_alone_and_there() -> None:
    there = Truth(planted=10, effect=18, error=0, own=0, rounds=9)
    inside = msgspec.structs.replace(effect(10, "worse", 13, 15), there=there)
    assert inside.holds is True
    assert inside.holds_truth(there) is inside.holds_truth(inside.true) is False
    beyond = msgspec.structs.replace(effect(10, "worse", 18.5, 20), there=there)
    assert beyond.holds is False


def test_the_runs_of_a_process_side_by_side_are_found_one_after_the_other() -> None:
    record = [Paid(started_ns=at, planted_ns=int(paid * 1e9)) for at, paid in RUNS]
    beside = Beside(runs=3, cpu_s=[0.4, 0.5, 0.6])
    three = msgspec.structs.replace(facts(10, 14, 9.0), beside=beside)
    assert own_s(three, record) == pytest.approx(0.5 - 0.2)
    assert own_s(msgspec.structs.replace(three, beside=Beside(runs=5)), record) is None


RUNS = [(5, 9.0), (11, 0.1), (15, 0.2), (19, 0.3), (23, 9.0)]
"""Starts, and what was planted: the second to the fourth are those of one process."""


def test_own_work_that_a_comparison_made_dearer_does_not_count_as_planted() -> None:
    """Else its noise, which an interval is for, would be a part of the truth."""
    plain = [Alone(own, 0, 0, 0) for own in NARROWLY]
    runs = [Alone(1.2 * own + 0.1, 0.1, 0, 0) for own in NARROWLY]
    alone = Truth(planted=10, effect=10, error=0.1, own=1, own_error=0.1, rounds=9)
    there, own = truth_there(alone, runs, plain)
    assert 9 < there.effect < 11
    assert own == pytest.approx(20, abs=0.5)


def test_a_long_reason_keeps_its_beginning_and_its_end() -> None:
    assert shortened("a  b\nc") == "a b c"
    text = shortened("begin " + "x" * 2000 + " end")
    assert text.startswith("begin")
    assert text.endswith(" end")
    assert len(text) < 700


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
    assert "misses the truth: 2 of 4, 50.0% " in text
    assert "2 % told, side by side: 0 of 3." in text
    assert "5 % told, side by side: 2 of 2." in text
    assert "Found minus true, side by side: +0.00 points in the median." in text


def test_misses_of_what_is_true_alone_and_there_are_told_apart() -> None:
    there = Truth(planted=10, effect=18, error=0, own=0, rounds=9)
    found = msgspec.structs.replace(effect(10, "worse", 17, 19), there=there)
    text = "\n".join(summary([Looked("jq", "jq", "a1", "", [found, effect(5, "worse", 4, 6)])]))
    assert "misses all between alone and there: 0 of 2, 0.0% " in text
    assert "It misses what is true alone: 1 of 2, 50.0%." in text
    assert "It misses what is true there: 0 of 1, 0.0%." in text


def test_the_page_has_each_effect_and_what_was_not_measured() -> None:
    text = page(LOOKED, ["perl_xs"], "python -m workshop planted", ["title", "planted so", "how"])
    assert all(line in text for line in markdown([effect_table(LOOKED)]))
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
