"""A metric has the same names wherever a user may type one."""

from __future__ import annotations

import pytest

from heapwise.cli.bisect import _quantity
from heapwise.cli.gate import parse_limits
from heapwise.errors import Problem
from heapwise.wording.metrics import METRICS, OF_ROUNDS, measure_of, measured_by


def test_no_two_metrics_share_a_name() -> None:
    names = [name for metric in METRICS for name in (metric.name, metric.alias) if name]
    assert len(set(names)) == len(names)


def test_an_alias_is_known_to_each_verb() -> None:
    assert parse_limits(["memory=3%"]) == {"peak_memory": 0.03}
    assert _quantity("memory") == measured_by("memory") == "peak_memory"


def test_a_gate_refuses_a_metric_that_it_cannot_limit() -> None:
    with pytest.raises(Problem, match="there is no metric 'minor_faults'"):
        parse_limits(["minor_faults=3%"])


@pytest.mark.parametrize("name", OF_ROUNDS)
def test_a_bisection_knows_each_metric_of_its_help(name: str) -> None:
    assert _quantity(name)


def test_bencher_has_a_name_of_its_own_for_the_time_alone() -> None:
    assert [measure_of(name) for name in ("time", "wall_time", "peak_memory")] == [
        "latency",
        "latency",
        "peak-memory",
    ]
