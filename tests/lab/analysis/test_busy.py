"""A machine that was busy is named before anything else."""

from __future__ import annotations

import re
from dataclasses import replace

from planted import with_facts
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.analysis.advice import busy_words
from heapwise.evidence import Evidence
from heapwise.model.cell import Settings


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


def test_processor_time_of_several_settings_names_each() -> None:
    stored = with_facts(
        compare_run(Script()), lambda p: {"psi_cpu_us": int(0.4e6 * (p.facts.wall_s or 0))}
    )
    evidence = Evidence(stored)
    result = analyse(evidence)
    rows = [
        replace(row, cell=replace(row.cell, parameters=Settings({"n": number})))
        for number in (10, 50)
        for row in result.rows
    ]
    words = busy_words(evidence, rows, result.trust)
    for setting in ("n=10", "n=50"):
        assert re.search(rf"mimalloc 1\.11x faster \([0-9. to]+\) at {setting}[,. ]", words), words
