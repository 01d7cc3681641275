"""The column of control groups on the terminal, which is there only if there are figures."""

from __future__ import annotations

from dataclasses import replace

from synthetic import compare_run

from heapwise.analysis import analyse
from heapwise.document.terminal import terminal
from heapwise.evidence import Evidence
from heapwise.model import Quantity
from heapwise.store import StoredRun
from heapwise.study.program.compare_table import compare_tables

MIB = 2**20


def with_group_peaks(stored: StoredRun, without: str = "") -> StoredRun:
    """Every sample has 500 MiB but those of one subject."""
    run = stored.run
    [experiment] = run.experiments
    quantities = [*experiment.quantities, Quantity("group_peak", "bytes", "lower")]
    run = replace(run, experiments=[replace(experiment, quantities=quantities)])
    samples = [
        sample
        if sample.subject == without
        else replace(sample, values=sample.values | {"group_peak": 500.0 * MIB})
        for sample in stored.samples
    ]
    return replace(stored, run=run, samples=samples)


def text_of(stored: StoredRun) -> str:
    return terminal(compare_tables(analyse(Evidence(stored)), 200), 200)


def test_a_comparison_with_control_groups_has_their_column() -> None:
    head, *lines = text_of(with_group_peaks(compare_run())).splitlines()
    assert head.endswith("cgroup peak")
    assert all(line.endswith("500 MiB") for line in lines)


def test_without_figures_there_is_no_column() -> None:
    assert "cgroup" not in text_of(compare_run())


def test_a_subject_without_a_figure_has_an_empty_cell() -> None:
    lines = text_of(with_group_peaks(compare_run(), without="jemalloc")).splitlines()
    ends = {line.split()[0]: line.endswith("500 MiB") for line in lines[1:]}
    assert ends.pop("jemalloc") is False
    assert all(ends.values())
