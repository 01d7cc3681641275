"""The section on what the program asks of malloc."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import changed, compare_run, pool_run

from heapwise.analysis import analyse
from heapwise.document import Labelled
from heapwise.evidence import Evidence
from heapwise.evidence.demand import Demand
from heapwise.model import Calls
from heapwise.report import View, build_page
from heapwise.report.sections import demand
from heapwise.store import StoredRun
from heapwise.study.program.tell import tell


def counted(**facts: object) -> StoredRun:
    stored = compare_run()
    first = changed(stored.processes[0], **facts)
    return replace(stored, processes=[first, *stored.processes[1:]])


def test_calls_a_second_are_over_the_time_of_a_process_that_is_not_counted() -> None:
    stored = counted(plain_wall_s=9.0, sizes=[0, 0, 0, 0, 0, 0, 0, 20_000_000])
    found = demand.build(View(Evidence(stored)))
    assert found is not None
    facts = dict(found["facts"])
    assert facts["Requests"] == "20,000,000"
    rate = facts["Requests for each second of processor time"]
    assert rate == "8,500,000", "20 million in 2.35 s"
    assert facts["Mean request"] == "100 B"
    assert "65 to 128 B" in found["figure"]


def test_without_sizes_the_numbers_stay_and_the_figure_is_left_out() -> None:
    page = build_page([View(Evidence(compare_run()))])
    assert "What the program asks of malloc" in page
    assert "figure sizes" not in page


def test_peak_memory_stands_over_the_bytes_that_live() -> None:
    stored = counted(peak_live_bytes=50 << 20)
    view = View(Evidence(stored))
    found = demand.build(view)
    assert found is not None
    assert dict(found["facts"])["Live at most"] == "50.0 MiB"
    group = view.group("peak_memory")
    assert group is not None
    assert [row.subject for row in found["over_live"]] == [row.subject for row in group.rows]
    first = group.rows[0]
    assert first.median is not None
    assert found["over_live"][0].ratio.startswith(f"{first.median / (50 << 20):.2f} (")
    assert "Peak memory over live bytes" in build_page([view])


def test_few_live_bytes_have_no_ratio() -> None:
    """Nearly all of the memory is then the process's own."""
    found = demand.build(View(Evidence(counted(peak_live_bytes=5000))))
    assert found is not None
    assert found["over_live"] == []
    assert "over live bytes" not in build_page([View(Evidence(counted(peak_live_bytes=5000)))])


def test_without_counts_there_is_no_section() -> None:
    assert demand.build(View(Evidence(pool_run()))) is None
    run = pool_run()
    first = replace(run.processes[0], facts=counted().processes[0].facts)
    assert demand.build(View(Evidence(replace(run, processes=[first, *run.processes[1:]])))) is None
    assert demand.build(View(Evidence(counted(calls=Calls())))) is None


def test_the_most_gain_is_that_of_calls_and_of_the_kernel() -> None:
    """Of 1 s: 10 million calls take 0.2 s, and the kernel 0.5 s if blocks fill enough pages."""
    found = Demand(10_000_000, 1 << 30, 1.0, kernel_s=0.5)
    assert found.most_gain == pytest.approx(0.7)
    few_pages = Demand(10_000_000, 4096 * 10_000, 1.0, kernel_s=0.5)
    assert few_pages.most_gain == pytest.approx(0.2 + 0.05)
    assert Demand(10_000_000, 1 << 30, 0.3, kernel_s=0.2).most_gain == 1.0, "never more than all"
    assert Demand(10_000_000, 1 << 30, None).most_gain is None
    assert Demand(1, 1 << 30, 1.0, frees=1000).most_gain is None, "most calls were not counted"


def test_a_comparison_says_the_most_that_an_allocator_can_gain() -> None:
    evidence = Evidence(counted(bytes_requested=20_000_000))
    told = [e for e in tell(analyse(evidence), evidence) if isinstance(e, Labelled)]
    (line,) = [each.text for each in told if each.label == "Malloc"]
    assert "of the processor time at most" in line
