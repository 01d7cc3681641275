"""What the live line says of the first processes of a comparison."""

from __future__ import annotations

import re
from dataclasses import replace

from msgspec import structs
from synthetic import Script, compare_run

from heapwise.cli.frame.tell.first_runs import FirstRuns
from heapwise.cli.frame.tell.progress import verdict_words
from heapwise.evidence import Evidence
from heapwise.model import Process
from heapwise.store import StoredRun


def taken(stored: StoredRun, number: int, busy: float = 0.0) -> list[Process]:
    """The first processes, each of 2 s of which it had the processor for 0.5 s."""
    found = [p for p in stored.processes if not p.facts.counting][:number]
    return [
        replace(
            process,
            facts=structs.replace(
                process.facts,
                wall_s=2.0,
                user_s=0.5,
                system_s=0.0,
                psi_cpu_us=int(busy * 2_000_000),
            ),
        )
        for process in found
    ]


def line(processes: list[Process], stored: StoredRun) -> str:
    first = FirstRuns()
    first.begin(stored.run)
    for process in processes:
        first.note(process)
    return first.line


def test_the_first_process_is_told_with_its_allocator_and_without_a_verdict() -> None:
    stored = compare_run()
    baseline = next(p for p in taken(stored, 20) if p.subject == "glibc")
    assert line([baseline], stored) == "1 run, no verdict yet: glibc 2.00 s"
    said = line(taken(stored, 20), stored)
    assert "jemalloc 2.00 s" in said
    assert "faster" not in said
    assert "%" not in said


def test_the_second_label_of_the_baseline_and_processes_that_failed_are_not_told() -> None:
    stored = compare_run()
    first = taken(stored, 1)[0]
    assert line([replace(first, subject="glibc-control")], stored) == ""
    assert line([replace(first, status="crashed")], stored) == ""


def test_on_a_busy_machine_the_line_has_processor_time() -> None:
    stored = compare_run()
    baseline = next(p for p in taken(stored, 20, busy=0.9) if p.subject == "glibc")
    assert line([baseline], stored) == "1 run, no verdict yet, CPU time: glibc 500 ms"


def test_the_line_of_verdicts_begins_with_the_best_and_keeps_to_its_width() -> None:
    time = {"glibc": 1.0, "glibc-control": 1.0, "slow": 1.5, "quick": 0.8, "level": 0.9}
    evidence = Evidence(compare_run(Script(time=time, memory=dict.fromkeys(time, 1.0))))
    whole, narrow = verdict_words(evidence), verdict_words(evidence, 70)
    assert re.match(r"\d+ rounds: quick 1\.\d+x faster .*, level .*, slow ", whole)
    assert len(narrow) <= 70
    assert re.match(r"\d+ rounds: quick 1\.\d+x faster .* and 2 more$", narrow)
