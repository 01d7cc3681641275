"""Stored runs with values that nothing measures: the fuzzer found that verbs ended with an error of
ours, or that Python warned on stderr."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from synthetic import Script, compare_run, pool_run
from synthetic_heap import Heap, heap_run
from synthetic_trees import Trees, trees_run

from heapwise.cli.frame.app import run
from heapwise.report.formats import find_formats
from heapwise.store import StoredRun, read_run

Lines = list[dict[str, Any]]
Change = Callable[[dict[str, Any], Lines], None]


def lay_down(stored: StoredRun, folder: Path, change: Change) -> Path:
    document = msgspec.to_builtins(stored.run)
    lines: Lines = [msgspec.to_builtins(r) for r in (*stored.processes, *stored.samples)]
    change(document, lines)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(document))
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def samples(lines: Lines) -> Lines:
    return [line for line in lines if line["kind"] == "sample"]


def set_values(number: Callable[[int], float]) -> Change:
    """Each value of the sample at a place among the samples is ``number(place)``."""

    def change(document: dict[str, Any], lines: Lines) -> None:
        for place, line in enumerate(samples(lines)):
            line["values"] = dict.fromkeys(line["values"], number(place))

    return change


def renamed_parameter(document: dict[str, Any], lines: Lines) -> None:
    for experiment in document["experiments"]:
        for parameter in experiment["parameters"]:
            parameter["name"] = parameter["name"].replace("threads", "")
    for line in lines:
        line["parameters"] = {
            name.replace("threads", ""): value for name, value in line["parameters"].items()
        }


def other_parameters_in_one_line(document: dict[str, Any], lines: Lines) -> None:
    samples(lines)[3]["parameters"] = {"": 1}
    samples(lines)[5]["parameters"] = {}


def huge_settings(document: dict[str, Any], lines: Lines) -> None:
    for experiment in document["experiments"]:
        for parameter in experiment["parameters"]:
            parameter["default"] = [10**400, 1e308]


def nested_settings(document: dict[str, Any], lines: Lines) -> None:
    for experiment in document["experiments"]:
        for parameter in experiment["parameters"]:
            parameter["default"] = [[1], {"a": 1}]


def unknown_groups(document: dict[str, Any], lines: Lines) -> None:
    for experiment in document["experiments"]:
        for subject in experiment["subjects"]:
            subject["group"] = "%s%n" if subject["group"] else ""


def odd_spins(document: dict[str, Any], lines: Lines) -> None:
    for line in lines:
        line["facts"] |= {"spin_before_ns": -1e99, "spin_after_ns": 0}


def coarse_clock(document: dict[str, Any], lines: Lines) -> None:
    for line in lines:
        if line["kind"] == "process":
            line["facts"]["start"] = {"clock": {"resolution_ns": 1e99, "overhead_ns": -1e99}}


def quick() -> StoredRun:
    return compare_run(Script(rounds=6))


def scaled() -> StoredRun:
    return pool_run(6, repeats=1, threads=(1, 2))


def heaps() -> StoredRun:
    return heap_run(Heap(rounds=3, threads=(1, 2)))


def trees() -> StoredRun:
    return trees_run(Trees(rounds=3))


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (scaled, set_values(lambda place: 1e90 if place % 2 else 1e-90)),
        (quick, set_values(lambda place: 1e25 if place % 2 else 1e-15)),
        (scaled, set_values(lambda place: -1.0 if place % 3 else 1.0)),
        (scaled, set_values(lambda place: 0.0)),
        (heaps, set_values(lambda place: -2.0)),
        (trees, set_values(lambda place: -1.0 if place % 3 else 5.0)),
        (heaps, renamed_parameter),
        (scaled, other_parameters_in_one_line),
        (scaled, huge_settings),
        (scaled, nested_settings),
        (trees, unknown_groups),
        (quick, odd_spins),
        (heaps, coarse_clock),
        (scaled, set_values(lambda place: -3.0)),
        (trees, set_values(lambda place: 0.0)),
    ],
)
def test_every_verb_ends_as_documented(
    make: Callable[[], StoredRun],
    change: Change,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = lay_down(make(), tmp_path / "store" / "runs" / "5a11", change)
    commands = [["report", str(folder), "--open", "no", "-o", str(tmp_path / "page.html")]]
    commands += [
        ["export", str(folder), "-f", name, "-o", str(tmp_path / "out")] for name in find_formats()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words in commands:
            code = run(words)
            assert code in (0, 2), f"{words[:4]}: {code} {capsys.readouterr().err}"


def test_a_value_that_cannot_have_been_measured_is_a_damaged_line(tmp_path: Path) -> None:
    def change(document: dict[str, Any], lines: Lines) -> None:
        for place, number in enumerate((1e26, -1e26, 1e-16)):
            samples(lines)[place]["values"]["wall_time"] = number
        samples(lines)[3]["values"]["wall_time"] = 0
        samples(lines)[4]["parameters"] = {"more": 1}

    clean = quick()
    stored = read_run(tmp_path, str(lay_down(clean, tmp_path / "runs" / "5a11", change)))
    assert stored.damaged_lines == 4
    assert len(stored.samples) == len(clean.samples) - 4
