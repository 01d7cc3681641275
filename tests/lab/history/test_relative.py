"""Series relative to the baseline that each run measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from histories import fill
from msgspec.structs import replace

from heapwise.analysis.across_runs.history import series_of
from heapwise.analysis.across_runs.history_lines import change_line, name_of
from heapwise.store import Point, RunPoints, read_points

BUSY = [1.0, 1.0, 1.01, 1.0, 1.4, 1.41, 1.4, 1.42, 1.4, 1.41, 1.4, 1.4]
"""How much slower the whole machine is in each run."""

SLOWER = [0.9, 0.901, 0.9, 0.899, 0.9, 0.9, 0.901, 0.9, 0.99, 0.991, 0.99, 0.99]
"""The time of a subject over that of the baseline."""


def point(subject: str, value: float, **changes: Any) -> Point:
    one = Point(
        "/x/prog", subject, {"n": 1}, "wall_time", "s", "lower", value, 9, "v1", "/x", "", "glibc"
    )
    return replace(one, **changes)


def run_of(number: int, points: Sequence[Point]) -> RunPoints:
    when = f"2026-01-{number + 1:02}T00:00:00+00:00"
    return RunPoints(f"r{number}", when, False, "cpu", "host", "Linux 6", None, list(points))


def runs(ratios: Sequence[float], **changes: Any) -> list[RunPoints]:
    return [
        run_of(number, [point("glibc", busy), point("jemalloc", busy * ratio, **changes)])
        for number, (busy, ratio) in enumerate(zip(BUSY, ratios, strict=True))
    ]


def test_a_busy_machine_does_not_change_a_ratio() -> None:
    absolute = series_of(runs([0.9] * 12))
    assert [[change.place for change in series.changes] for series in absolute] == [[4], [4]]
    [series] = series_of(runs([0.9] * 12), relative=True)
    assert series.changes == []
    assert (series.key.baseline, series.unit) == ("glibc", "ratio")
    assert name_of(series) == "jemalloc  time  relative to glibc  n=1"


def test_a_subject_that_changed_is_found_on_a_busy_machine() -> None:
    [series] = series_of(runs(SLOWER), relative=True)
    [change] = series.changes
    assert (change.place, change.better) == (8, False)
    assert "10.0 % more" in change_line(series, change)
    assert "0.900 became 0.990" in change_line(series, change)


def test_another_version_of_the_baseline_is_a_seam() -> None:
    changed = runs(SLOWER)
    changed[8:] = [
        replace(run, points=[replace(run.points[0], toolchain="v2"), run.points[1]])
        for run in changed[8:]
    ]
    [series] = series_of(changed, relative=True)
    assert [seam.place for seam in series.seams] == [8]
    assert series.seams[0].why == "v1 beside v1 became v1 beside v2"
    assert series.changes == []


def test_builds_are_compared_although_their_commands_differ() -> None:
    [series] = series_of(runs(SLOWER, command="/y/prog"), relative=True)
    assert len(series.moments) == 12
    assert series_of(runs(SLOWER, command="/y/prog", place=""), relative=True) == []


def test_a_figure_without_a_baseline_is_left_out() -> None:
    assert series_of(runs(SLOWER, parameters={"n": 2}), relative=True) == []
    assert series_of(runs([0.0] * 12), relative=True) == []


def test_the_command_shows_them(heapwise: Any, tmp_path: Path) -> None:
    """A baseline alone is relative to nothing."""
    fill(tmp_path / "s", [1.0, 2.0])
    assert {p.baseline for run in read_points(tmp_path / "s") for p in run.points} == {"glibc"}
    said = heapwise("history", "--relative", "--store", str(tmp_path / "s"))
    assert said.returncode == 0, said.stderr
    assert "No series" in said.stdout
