"""A machine that was busy is named before anything else."""

from __future__ import annotations

import re
from dataclasses import replace

from planted import with_facts
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.analysis.summary.advice import busy_words
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


def noisy(written: int | None, *, asks_first: bool) -> str:
    """The advice on a comparison that could not tell."""
    labels = ("glibc", "glibc-control", "mimalloc")
    script = Script(rounds=6, time=dict.fromkeys(labels, 1.0), noise=0.2)
    stored = with_facts(compare_run(script), lambda p: {"written_elsewhere_bytes": written})
    plan = stored.run.plan
    options = replace(plan.options, asks_first=asks_first)
    run = replace(stored.run, plan=replace(plan, options=options))
    return analyse(Evidence(replace(stored, run=run))).advice


def test_the_advice_on_a_program_that_writes_names_the_option_that_pairs_it() -> None:
    assert "Cannot tell yet" in noisy(2048, asks_first=False)
    assert "--side-by-side" not in noisy(2048, asks_first=False)
    assert "writes 2 KiB elsewhere than to its output" in noisy(2048, asks_first=True)
    assert "may write files" in noisy(None, asks_first=True)
    assert "compare --side-by-side tells more" in noisy(2048, asks_first=True)
