"""The section on what the program asks of malloc."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import changed, compare_run, pool_run

from heapwise.analysis import analyse
from heapwise.document import Facts, Labelled, Passage, Plot, TextTable
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


def demand_of(view: View) -> tuple[dict[str, str], Passage]:
    """What is known of the requests, and what follows it."""
    facts, *others = demand.tell(view)
    assert isinstance(facts, Facts)
    return dict(facts.pairs), others[0]


def test_calls_a_second_are_over_the_time_of_a_process_that_is_not_counted() -> None:
    stored = counted(plain_wall_s=9.0, sizes=[0, 0, 0, 0, 0, 0, 0, 20_000_000])
    facts, figure = demand_of(View(Evidence(stored)))
    assert facts["Requests"] == "20,000,000"
    rate = facts["Requests for each second of processor time"]
    assert rate == "8,500,000", "20 million in 2.35 s"
    assert facts["Mean request"] == "100 B"
    assert isinstance(figure, Plot)
    assert "65 to 128 B" in figure.svg


def test_without_sizes_the_numbers_stay_and_the_figure_is_left_out() -> None:
    page = build_page([View(Evidence(compare_run()))])
    assert "What the program asks of malloc" in page
    assert "figure sizes" not in page


def test_peak_memory_stands_over_the_bytes_that_live() -> None:
    stored = counted(peak_live_bytes=50 << 20)
    view = View(Evidence(stored))
    facts, table = demand_of(view)
    assert facts["Live at most"] == "50.0 MiB"
    assert isinstance(table, TextTable)
    group = view.group("peak_memory")
    assert group is not None
    lines = [[cell.text for cell in line] for line in table.lines[1:]]
    assert [line[0] for line in lines] == [row.subject for row in group.rows]
    first = group.rows[0]
    assert first.median is not None
    assert lines[0][2].startswith(f"{first.median / (50 << 20):.2f} (")
    assert "Peak memory over live bytes" in build_page([view])


def test_few_live_bytes_have_no_ratio() -> None:
    """Nearly all of the memory is then the process's own."""
    found = demand.tell(View(Evidence(counted(peak_live_bytes=5000))))
    assert found
    assert not any(isinstance(part, TextTable) for part in found)
    assert "over live bytes" not in build_page([View(Evidence(counted(peak_live_bytes=5000)))])


def test_without_counts_there_is_no_section() -> None:
    assert demand.tell(View(Evidence(pool_run()))) == []
    run = pool_run()
    first = replace(run.processes[0], facts=counted().processes[0].facts)
    assert demand.tell(View(Evidence(replace(run, processes=[first, *run.processes[1:]])))) == []
    assert demand.tell(View(Evidence(counted(calls=Calls())))) == []


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
