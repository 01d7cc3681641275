"""What the processes of a run told of themselves."""

from __future__ import annotations

from dataclasses import replace

from planted import counted, with_start
from synthetic import compare_run, pool_run

from heapwise.analysis.across_runs.recorded_facts import builds, requests, rounds
from heapwise.evidence import Evidence
from heapwise.report import pages
from heapwise.report.view import View


def test_a_process_whose_calls_are_counted_is_not_a_round() -> None:
    evidence = Evidence(counted(pool_run(rounds=6), 1_000_000))
    assert rounds(evidence) == rounds(evidence, "pool/bulk") == 6
    assert rounds(evidence, "pool/other") == 0
    page = next(text for name, text in pages(View(evidence)).items() if name == "pool/bulk.md")
    assert "6 rounds of processes" in page


def test_each_build_is_named_once() -> None:
    stored = with_start(pool_run(), compiler="GCC 12", flags="-O2")
    assert [str(build) for build in builds(Evidence(stored))] == ["GCC 12 -O2"]


def test_requests_are_those_of_the_counted_process() -> None:
    found = requests(Evidence(compare_run()))
    assert found is not None
    assert sum(found.calls.values()) >= found.demand.requests > 0
    assert requests(Evidence(replace(compare_run(), processes=compare_run().processes[1:]))) is None
    assert requests(Evidence(pool_run())) is None
