"""V10 to V15: memory layout, processors, neighbours, counters and warm-up."""

from __future__ import annotations

from planted import compare, pinned_by_itself, verdict_of, with_facts, without_facts
from synthetic import Script, compare_run

from heapwise.model import (
    Counter,
)


def test_few_layouts_and_their_scatter_are_reported() -> None:
    found = verdict_of(compare_run(Script(rounds=6)), "V10")
    assert "6 processes of a subject are few" in found.detail
    assert found.figures["between_processes"]["glibc"] < 0.1
    assert "are few" not in verdict_of(compare(), "V10").detail


def test_a_program_that_pins_itself_is_not_a_fault() -> None:
    found = verdict_of(compare_run(pinned_by_itself(lambda p: [0])), "V11")
    assert found.verdict == "pass"
    assert "The program chose [0] for itself." in found.detail


def test_a_parallel_program_that_waits_for_itself_has_no_neighbour() -> None:
    stored = with_facts(
        compare(),
        lambda p: {
            "psi_cpu_us": 2_000_000,
            "involuntary_switches": 5000,
            "user_s": 2 * p.facts.wall_s,
        },
    )
    assert verdict_of(stored, "V13").verdict == "pass"


def test_nothing_waits_for_longer_than_a_process_runs() -> None:
    """The two clocks are read at other moments, so a quotient of them can be 1.01."""
    waited = with_facts(compare(), lambda p: {"psi_cpu_us": int(1.02e6 * (p.facts.wall_s or 0))})
    assert "during 100 % of the median process" in verdict_of(waited, "V13").detail


def test_counters_that_ran_all_the_time_and_those_that_are_missing_are_named() -> None:
    whole = [Counter("instructions", 10, 1000, 1000), Counter("page_faults", 10, 1000, 1000)]
    found = verdict_of(with_facts(compare(), lambda p: {"counters": whole}), "V14")
    assert found.verdict == "pass"
    assert found.figures["running_share"] == {"instructions": 1.0, "page_faults": 1.0}
    kernels = verdict_of(
        with_facts(
            compare(), lambda p: {"counters": whole[1:], "counters_missing": "cycles: not allowed"}
        ),
        "V14",
    )
    assert kernels.verdict == "unavailable"
    assert "cycles: not allowed" in kernels.detail
    assert "page_faults" in kernels.detail


def test_stolen_time_that_was_not_recorded_is_not_zero() -> None:
    found = verdict_of(without_facts(compare_run(), "steal_ticks"), "V13")
    assert (found.verdict, found.detail) == ("pass", "Stolen time was not recorded.")


def test_cold_and_steady_are_told_apart() -> None:
    found = verdict_of(
        compare_run(Script(bend=lambda name, round_, value: value * 1.5 if round_ < 0 else value)),
        "V15",
    )
    assert found.verdict == "pass", found.detail
    assert found.figures["cold"][0] > 0.4
    assert "which does not count, took" in found.detail
