"""Series of a store: order, seams, changes with their commits; and what the command says."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from histories import MACHINE, add, commit_of, elsewhere, fill, run_of
from msgspec import structs

from heapwise.analysis.across_runs.history import MetricHistory, series_of
from heapwise.analysis.across_runs.history_lines import change_line, seam_line, series_line
from heapwise.model import Calls, FileState, Process, ProcessFacts, Run
from heapwise.report.history import history_page
from heapwise.store import RunPoints, RunWriter, list_runs, points, read_points

STEP = [2.0, 2.01, 1.99, 2.0, 2.01, 1.99, 2.0, 2.01, 2.2, 2.21, 2.19, 2.2, 2.21]


def time_of(store: Path) -> MetricHistory:
    [found] = series_of(read_points(store), ["wall_time"])
    return found


def test_a_change_has_its_commits_its_size_and_a_direction(tmp_path: Path) -> None:
    fill(tmp_path, STEP)
    series = time_of(tmp_path)
    assert [moment.value for moment in series.moments] == pytest.approx(STEP)
    [change] = series.changes
    assert (change.place, change.after_commit, change.commit) == (8, commit_of(7), commit_of(8))
    assert change.change == pytest.approx(0.1, abs=0.01)
    assert change.low is not None
    assert change.high is not None
    assert 0.09 < change.low < change.change < change.high < 0.12
    assert not change.better
    assert change.gone is None
    assert "worse: 10.0 % more (95 % CI " in change_line(series, change)
    assert change_line(series, change).endswith("in 0000000007..0000000008")
    assert "▁" in series_line(series)
    assert "13 runs" in series_line(series)


def test_a_change_that_is_undone_later_is_reported(tmp_path: Path) -> None:
    fill(tmp_path, [*STEP, *STEP[:8]])
    first, second = time_of(tmp_path).changes
    assert (first.place, first.gone, second.better) == (8, 13, True)
    assert "it went away at" in change_line(time_of(tmp_path), first)


def test_the_order_is_that_of_the_commits_not_of_the_runs(tmp_path: Path) -> None:
    numbers = list(range(len(STEP)))
    random.Random(3).shuffle(numbers)
    for place, number in enumerate(numbers):
        run = replace(run_of(number), created=f"2026-12-{place + 1:02}T00:00:00+00:00")
        add(tmp_path, run, STEP[number])
    assert [moment.commit for moment in time_of(tmp_path).moments] == [
        commit_of(number) for number in range(len(STEP))
    ]


@pytest.mark.parametrize("what", ["kernel", "allocator"])
def test_nothing_is_compared_across_a_seam(tmp_path: Path, what: str) -> None:
    for number, value in enumerate(STEP):
        late = number >= 8
        run = run_of(
            number,
            version="2.40" if late and what == "allocator" else "2.36",
            machine=elsewhere("Linux 9" if late and what == "kernel" else "Linux 6"),
        )
        add(tmp_path, run, value)
    series = time_of(tmp_path)
    assert series.changes == []
    [seam] = series.seams
    assert seam.place == 8
    assert "became" in seam_line(series, seam)
    assert "|" in series_line(series)


def test_other_programs_are_other_series(tmp_path: Path) -> None:
    add(tmp_path, run_of(1), 1.0)
    add(tmp_path, run_of(2, command=["/x/prog", "--other"]), 9.0)
    found = series_of(read_points(tmp_path))
    assert {(s.key.command, s.key.quantity) for s in found} == {
        (f"/x/prog {word}", quantity)
        for word in ("--bench", "--other")
        for quantity in ("wall_time", "peak_memory")
    }


def test_since_leaves_out_what_is_older(tmp_path: Path) -> None:
    fill(tmp_path, STEP)
    runs = read_points(tmp_path)
    [series] = series_of(runs, ["wall_time"], "2026-01-05T01:00:00+00:00")
    assert series.moments[0].commit == commit_of(4)


def test_runs_without_a_commit_are_in_the_order_of_their_dates(tmp_path: Path) -> None:
    for number, value in enumerate(STEP):
        add(tmp_path, run_of(number, known=False), value)
    [change] = time_of(tmp_path).changes
    assert (change.commit, change.place) == ("", 8)
    assert "at run r0008 of 2026-01-09, after run r0007" in change_line(time_of(tmp_path), change)


def test_each_run_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Afterwards the index has its medians, and the list of runs still has its own part."""
    fill(tmp_path, [1.0] * 40)
    before = read_points(tmp_path)
    listed = list_runs(tmp_path)
    read: list[str] = []

    def counting(store: Path, id: str) -> object:
        read.append(id)
        raise AssertionError

    monkeypatch.setattr(points, "read_run", counting)
    assert read_points(tmp_path) == before
    assert list_runs(tmp_path) == listed
    assert read_points(tmp_path) == before
    assert read == []


def test_a_run_that_goes_on_is_read_again(tmp_path: Path) -> None:
    fill(tmp_path, STEP[:3])
    assert len(time_of(tmp_path).moments) == 3
    add(tmp_path, run_of(3), 5.0)
    samples = tmp_path / "runs" / "r0000" / "samples.jsonl"
    samples.write_text(samples.read_text().replace('"wall_time":2.0', '"wall_time":7.0'))
    values = [moment.value for moment in time_of(tmp_path).moments]
    assert values[0] > 3
    assert values[3] == 5.0


def test_damage_in_the_index_does_not_damage_the_history(tmp_path: Path) -> None:
    fill(tmp_path, STEP)
    found: list[RunPoints] = read_points(tmp_path)
    (tmp_path / "index.sqlite").write_bytes(b"damage")
    assert read_points(tmp_path) == found


def test_the_command_prints_series_changes_json_and_a_page(heapwise: Any, tmp_path: Path) -> None:
    fill(tmp_path / "s", STEP)
    store = ("--store", str(tmp_path / "s"))
    said = heapwise("history", "time", *store)
    assert said.returncode == 0, said.stderr
    assert "worse: 10.0 % more" in said.stdout
    assert "/x/prog --bench" in said.stdout
    document = json.loads(heapwise("history", *store, "--json").stdout)
    assert [len(series["changes"]) for series in document] == [0, 1]
    page = tmp_path / "h.html"
    assert heapwise("history", "-o", str(page), *store).returncode == 0
    text = page.read_text()
    assert "Zoom in" in text
    assert "10.0 % more" in text
    assert "http" not in text.replace("http-equiv", "")
    assert len(text) < 100_000
    wrong = heapwise("history", "speed", *store)
    assert wrong.returncode == 2
    assert "peak_memory" in wrong.stderr
    assert heapwise("history", *store, "--since", "no-such-thing").returncode == 2
    assert "no complete run" in heapwise("history", "--store", str(tmp_path / "none")).stdout


def test_names_of_programs_stay_text_in_the_page(tmp_path: Path) -> None:
    add(tmp_path, run_of(1, command=["/x/<script>alert(1)</script>"]), 1.0)
    assert "<script>alert" not in history_page(series_of(read_points(tmp_path)))


def in_folder(number: int, folder: str) -> Run:
    run = run_of(number, command=("./prog",))
    return replace(run, revision=None, plan=replace(run.plan, working_directory=folder))


def test_two_projects_with_one_command_are_two_series(tmp_path: Path) -> None:
    for number in range(6):
        add(
            tmp_path,
            in_folder(number, "/home/me/a" if number < 3 else "/home/me/b"),
            0.05 if number < 3 else 0.3,
        )
    found = series_of(read_points(tmp_path), ["wall_time"])
    assert [series.key.place for series in found] == ["/home/me/a", "/home/me/b"]
    assert not any(series.changes for series in found)


def test_containers_with_names_of_their_own_have_one_history(tmp_path: Path) -> None:
    for number, value in enumerate(STEP):
        machine = replace(MACHINE, host=f"runner-{number * 7919}")
        add(tmp_path, run_of(number, machine=machine), value)
    series = time_of(tmp_path)
    assert len(series.moments) == len(STEP)
    assert len(series.changes) == 1


def test_hosts_that_come_back_are_machines_of_their_own(tmp_path: Path) -> None:
    for number in range(8):
        add(tmp_path, run_of(number, machine=replace(MACHINE, host=f"host-{number % 2}")), 1.0)
    assert len(series_of(read_points(tmp_path), ["wall_time"])) == 2


def test_a_named_machine_has_one_history_whatever_its_host_is_called(tmp_path: Path) -> None:
    for number in range(8):
        machine = replace(MACHINE, host=f"host-{number % 2}", name="bench")
        add(tmp_path, run_of(number, machine=machine), 1.0)
    assert time_of(tmp_path).key.machine == "bench"


def test_an_input_with_other_contents_is_a_seam_and_accuses_no_commit(tmp_path: Path) -> None:
    for number, value in enumerate([2.0] * 6 + [20.0] * 6):
        run = run_of(number)
        state = FileState("/x/in.txt", 1, 1, "aa" if number < 6 else "bb")
        options = replace(run.plan.options, files={"input": state})
        add(
            tmp_path,
            replace(run, plan=replace(run.plan, input_path="/x/in.txt", options=options)),
            value,
        )
    series = time_of(tmp_path)
    assert series.changes == []
    assert [seam.place for seam in series.seams] == [6]
    assert "the input aa became the input bb" in seam_line(series, series.seams[0])


def test_many_series_of_one_run_say_why(heapwise: Any, tmp_path: Path) -> None:
    for number in range(4):
        add(tmp_path / "store", in_folder(number, f"/home/me/{number}"), 1.0)
    done = heapwise("history", "time")
    assert "4 of 4 series have fewer than 3 runs" in done.stdout
    assert "HEAPWISE_MACHINE=NAME" in done.stdout


def counts_of(tmp_path: Path, values: list[int]) -> MetricHistory:
    for number, value in enumerate(values):
        run = run_of(number)
        with RunWriter.create(tmp_path, run) as writer:
            for place, subject in enumerate(("glibc", "glibc-control")):
                calls = Calls(malloc=value + place)
                facts = ProcessFacts(counting=True, calls=calls, bytes_requested=9)
                writer.append(
                    Process(place, "compare", subject, {}, -1, "ok", warm_up=True, facts=facts)
                )
    [found] = series_of(read_points(tmp_path), ["allocations"])
    return found


def test_one_run_shows_a_change_of_an_exact_count(tmp_path: Path) -> None:
    series = counts_of(tmp_path, [1000, 1000, 1000, 1000, 1020])
    assert [moment.value for moment in series.moments] == [1000, 1000, 1000, 1000, 1020]
    [change] = series.changes
    assert (change.place, change.commit, change.better) == (4, commit_of(4), False)
    assert "2.0 % more, exact" in change_line(series, change)


def test_a_count_with_chance_in_it_is_judged_like_a_time(tmp_path: Path) -> None:
    assert counts_of(tmp_path, [1000, 1031, 1002, 1040, 1007]).changes == []


def test_a_count_that_comes_back_is_not_exact(tmp_path: Path) -> None:
    assert counts_of(tmp_path, [1000, 1000, 1000, 1100, 1000, 1000, 1000, 1000]).changes == []


def test_chance_makes_few_changes_of_a_count_of_two_values(tmp_path: Path) -> None:
    """Before, 87 % of such series showed an exact change."""
    chance = random.Random(1)
    counts_of(tmp_path, [1000] * 20)
    runs = read_points(tmp_path)
    shown = 0
    for _ in range(100):
        drawn = [
            structs.replace(run, points=[structs.replace(point, value=value)])
            for run in runs
            for point in run.points
            if (point.quantity, point.subject) == ("allocations", "glibc")
            for value in (1100.0 if chance.random() < 0.1 else 1000.0,)
        ]
        [series] = series_of(drawn, ["allocations"])
        assert len(series.moments) == 20
        shown += bool(series.changes)
    assert shown <= 10


def test_small_changes_of_a_count_are_shown_if_they_are_asked_for(tmp_path: Path) -> None:
    counts_of(tmp_path, [1000, 1000, 1000, 1001])
    runs = read_points(tmp_path)
    assert [len(series_of(runs, ["allocations"], "", least)[0].changes) for least in (0.01, 0)] == [
        0,
        1,
    ]
