"""A machine that was busy is named before anything else."""

from __future__ import annotations

from planted import with_facts
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence


def test_a_busy_machine_is_named_first_and_processor_time_is_told() -> None:
    stored = with_facts(
        compare_run(Script()), lambda p: {"psi_cpu_us": int(0.4e6 * (p.facts.wall_s or 0))}
    )
    advice = analyse(Evidence(stored)).advice
    assert advice.startswith(
        "The machine was busy (load 0.1 on 2 processors): something waited "
        "for a processor during 40.0 % of a typical process."
    )
    assert "By processor time: mimalloc 1.11x faster" in advice
    assert "Fastest: mimalloc" in advice


def test_a_quiet_machine_is_not_mentioned() -> None:
    assert "busy" not in analyse(Evidence(compare_run())).advice
