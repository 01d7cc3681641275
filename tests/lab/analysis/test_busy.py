"""A machine that was busy is named before anything else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from msgspec import structs
from planted import with_facts
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.analysis.summary.advice import busy_words
from heapwise.evidence import Evidence
from heapwise.model import FAILED_BESIDE, Beside, ChangedName, ChangedNames
from heapwise.model.cell import Settings


def test_a_busy_machine_is_named_first_and_processor_time_is_told() -> None:
    stored = with_facts(
        compare_run(Script()), lambda p: {"psi_cpu_us": int(0.4e6 * (p.facts.wall_s or 0))}
    )
    advice = analyse(Evidence(stored)).advice
    assert advice.startswith(
        "The machine was busy: something waited for a processor during 40.0 % of a typical process."
    )
    assert "By processor time: mimalloc 1.11x faster" in advice
    assert "Fastest: mimalloc" in advice


def test_a_load_is_named_if_the_machine_was_busy_from_the_start() -> None:
    stored = with_facts(compare_run(Script()), lambda p: {"psi_cpu_us": 400_000})
    machine = stored.run.machine
    quiet = structs.replace(machine.facts.quiet, load=[18.2, 9.0, 4.0])
    facts = structs.replace(machine.facts, quiet=quiet)
    run = replace(stored.run, machine=replace(machine, facts=facts))
    advice = analyse(Evidence(replace(stored, run=run))).advice
    assert advice.startswith("The machine was busy (load 18.2 on 2 processors): something waited")


def test_a_quiet_machine_is_not_mentioned() -> None:
    assert "busy" not in analyse(Evidence(compare_run())).advice


def test_processor_time_names_the_largest_gains_and_losses_and_counts_the_others() -> None:
    time = {"glibc": 1.0, "glibc-control": 1.0, "late": 1.5, "latest": 1.7}
    time |= {f"gain{number}": 0.9 - number / 20 for number in range(5)}
    script = Script(time=time, memory=dict.fromkeys(time, 1.0))
    stored = with_facts(
        compare_run(script), lambda p: {"psi_cpu_us": int(0.4e6 * (p.facts.wall_s or 0))}
    )
    advice = analyse(Evidence(stored)).advice
    by_processor_time = advice.partition("By processor time: ")[2].partition(". ")[0]
    named = re.findall(r"gain\d|late\w*", by_processor_time)
    assert named == ["gain4", "gain3", "gain2", "latest", "late"], by_processor_time
    assert " and 2 more; latest 1." in by_processor_time


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


@pytest.mark.parametrize("side_by_side", [None, True, False])
def test_the_advice_says_why_a_program_did_not_run_beside_itself(side_by_side: bool | None) -> None:
    """A run that gives side by side up stores False. A server's pairs fail one by one."""
    stored = compare_run(Script())
    plan = stored.run.plan
    options = replace(plan.options, side_by_side=side_by_side)
    beside = replace(
        stored.processes[-1],
        number=1000,
        status="discarded",
        reason=f"{FAILED_BESIDE}exit code 21 instead of 0",
        facts=structs.replace(stored.processes[-1].facts, beside=Beside(processes=2)),
    )
    run = replace(stored.run, plan=replace(plan, options=options))
    told = replace(stored, run=run, processes=[*stored.processes, beside])
    said = f"{beside.subject} did not do its work (exit code 21 instead of 0), so all ran one by"
    assert (said in analyse(Evidence(told)).advice) == (side_by_side is False)
    assert said not in analyse(Evidence(stored)).advice


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("made", "The program writes x.o, so no two of it ran at the same time."),
        ("bound", "The program listens at x.o, so"),
        ("used", "The program uses x.o, so"),
    ],
)
def test_the_advice_names_what_two_processes_would_share(how: str, words: str) -> None:
    assert words in shared_advice([ChangedName("/srv/x.o", how)])


def test_the_advice_counts_the_names_beyond_the_first() -> None:
    names = [ChangedName(f"/other/{number}", "removed") for number in range(3)]
    assert "removes /other/0 and 2 other names, so" in shared_advice(names)


def test_the_advice_says_why_the_names_are_not_known() -> None:
    said = shared_advice([], missing="it uses io_uring")
    assert "its output (which is not known: it uses io_uring), so no two" in said


def shared_advice(names: list[ChangedName], missing: str | None = None) -> str:
    """The advice on a program that two looks saw change these names."""
    labels = ("glibc", "glibc-control", "mimalloc")
    script = Script(rounds=6, time=dict.fromkeys(labels, 1.0), noise=0.2)
    stored = with_facts(compare_run(script), lambda p: {"written_elsewhere_bytes": 2048})
    changed = ChangedNames(missing=missing, names=names)
    looks = [
        replace(
            process,
            number=1000 + process.number,
            round=-1,
            warm_up=True,
            facts=structs.replace(process.facts, counting=True, changed_names=changed),
        )
        for process in stored.processes[:2]
    ]
    plan = stored.run.plan
    options = replace(plan.options, asks_first=True)
    run = replace(stored.run, plan=replace(plan, options=options, working_directory="/srv"))
    told = replace(stored, run=run, processes=[*stored.processes, *looks])
    return analyse(Evidence(told)).advice
