"""Two stored runs beside each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from planted import compare, label_matters, other_output
from synthetic import Script, compare_run, pool_run

from heapwise.analysis.across_runs.difference import difference, obstacles
from heapwise.analysis.across_runs.difference_gate import difference_gate
from heapwise.analysis.across_runs.runs_like import relative_spreads, spreads
from heapwise.analysis.gate import exit_code
from heapwise.evidence import Evidence
from heapwise.model import Calls, Difference, FileState, GateRow, Sample
from heapwise.store import RunPoints, StoredRun, points_of


def scaled(stored: StoredRun, factor: float, subjects: str = "") -> StoredRun:
    """The same run with every time as many times as long. subjects: only of this one, if any."""

    def longer(sample: Sample) -> Sample:
        return replace(
            sample,
            values={
                name: value * factor if name == "wall_time" else value
                for name, value in sample.values.items()
            },
        )

    return replace(
        stored,
        samples=[
            longer(sample) if subjects in ("", sample.subject) else sample
            for sample in stored.samples
        ],
    )


def of(first: StoredRun, second: StoredRun, quantity: str = "wall_time") -> dict[str, str]:
    found = difference(Evidence(first), Evidence(second))
    return {row.subject: row.verdict for row in found.rows if row.cell.quantity == quantity}


def test_a_run_does_not_differ_from_itself() -> None:
    stored = compare_run()
    assert set(of(stored, stored).values()) <= {"no difference", "cannot tell"}


def test_a_large_difference_is_found_in_its_direction() -> None:
    stored = compare_run()
    assert of(stored, scaled(stored, 2.0, "scudo"))["scudo"] == "worse"
    assert of(stored, scaled(stored, 0.5, "scudo"))["scudo"] == "better"
    found = difference(Evidence(stored), Evidence(scaled(stored, 2.0, "scudo")))
    [row] = [
        row for row in found.rows if (row.subject, row.cell.quantity) == ("scudo", "wall_time")
    ]
    assert row.relative_to == "glibc"
    assert row.low is not None
    assert row.high is not None
    assert row.ratio is not None
    assert row.low < row.ratio < row.high


def test_a_machine_that_became_slower_is_not_a_difference() -> None:
    """All subjects take twice as long, and the baseline is the same as before."""
    stored = compare_run()
    words = of(stored, scaled(stored, 2.0))
    assert words.pop("glibc") == "cannot tell"
    assert set(words.values()) == {"no difference"}


def stored_before(*factors: float) -> list[RunPoints]:
    """Runs of the store, whose machine was as many times as slow."""
    return [points_of(scaled(compare_run(), factor)) for factor in factors]


@pytest.mark.parametrize(
    ("factors", "word"),
    [
        ((1.0, 1.004, 0.997), "cannot tell"),
        ((1.0, 1.004, 0.997, 1.002, 0.999, 1.003), "worse"),
        ((1.0, 1.2, 0.9, 1.1, 0.95, 1.15), "cannot tell"),
    ],
)
def test_figures_themselves_are_judged_by_how_much_runs_differ(
    factors: tuple[float, ...], word: str
) -> None:
    one = compare_run()
    other = scaled(one, 1.1)
    runs = stored_before(*factors)
    found = difference(Evidence(one), Evidence(other), spreads(points_of(one), runs))
    [row] = [
        row for row in found.rows if (row.subject, row.cell.quantity) == ("glibc", "wall_time")
    ]
    assert row.verdict == word


@pytest.mark.parametrize(
    ("factors", "word"),
    [
        ((1.0, 0.9, 1.2), "worse"),
        ((1.0, 1.004, 0.997, 1.002, 0.999, 1.003), "worse"),
        ((1.0, 1.2, 0.9, 1.1, 0.95, 1.15), "cannot tell"),
    ],
)
def test_a_subject_that_alone_differs_from_run_to_run_is_judged_by_that(
    factors: tuple[float, ...], word: str
) -> None:
    """The baseline is the same in all runs. With three runs nothing shows how much they differ."""
    one = compare_run()
    other = scaled(one, 1.1, "scudo")
    runs = [points_of(scaled(compare_run(), factor, "scudo")) for factor in factors]
    like = points_of(one)
    found = difference(
        Evidence(one), Evidence(other), spreads(like, runs), relative_spreads(like, runs)
    )
    [row] = [
        row for row in found.rows if (row.subject, row.cell.quantity) == ("scudo", "wall_time")
    ]
    assert row.relative_to == "glibc"
    assert row.verdict == word


def test_a_machine_that_differs_from_run_to_run_widens_no_ratio_to_the_baseline() -> None:
    one = compare_run()
    like = points_of(one)
    found = relative_spreads(like, stored_before(1.0, 1.2, 0.9, 1.1, 0.95, 1.15))
    assert found
    assert max(spread.deviation for spread in found.values()) < 1e-9


def test_controls_are_left_out() -> None:
    assert not [name for name in of(compare_run(), compare_run()) if name.endswith("-control")]


@pytest.mark.parametrize(
    ("what", "said"),
    [("machine", "the machines differ: cpu"), ("version", "Heapwise"), ("work", "arguments")],
)
def test_unlike_runs_are_described_without_a_verdict(what: str, said: str) -> None:
    one = compare_run()
    run = one.run
    if what == "machine":
        run = replace(run, machine=replace(run.machine, cpu="another"))
    elif what == "version":
        run = replace(run, version="9.9.9")
    else:
        run = replace(run, plan=replace(run.plan, command=[*run.plan.command, "--more"]))
    found = difference(Evidence(one), Evidence(replace(scaled(one, 2.0), run=run)))
    assert len(found.reasons) == 1
    assert said in found.reasons[0]
    assert found.rows
    assert all(row.verdict == "none" and row.low is None for row in found.rows)


def test_a_program_may_have_moved_between_two_runs() -> None:
    one = compare_run()
    plan = replace(one.run.plan, command=["/elsewhere", *one.run.plan.command[1:]])
    other = replace(one, run=replace(one.run, plan=plan))
    assert obstacles(Evidence(one), Evidence(other)) == []


def test_a_comparison_and_experiments_have_nothing_in_common() -> None:
    found = difference(Evidence(compare_run()), Evidence(pool_run()))
    assert found.rows == []
    assert any("experiments" in reason for reason in found.reasons)


def test_a_host_of_another_name_is_a_note_and_other_hardware_an_obstacle() -> None:
    one = compare_run()
    other = replace(one, run=replace(one.run, machine=replace(one.run.machine, host="runner-2")))
    found = difference(Evidence(one), Evidence(other))
    assert found.reasons == []
    assert any("may be two machines" in note for note in found.notes)


def test_an_input_that_grew_is_an_obstacle() -> None:
    def with_input(sha256: str) -> StoredRun:
        one = compare_run()
        options = replace(
            one.run.plan.options, files={"input": FileState("/x/in.txt", 1, 1, sha256)}
        )
        plan = replace(one.run.plan, input_path="/x/in.txt", options=options)
        return replace(one, run=replace(one.run, plan=plan))

    [reason] = obstacles(Evidence(with_input("aa")), Evidence(with_input("bb")))
    assert reason == "the work differs: the contents of the input"


@pytest.mark.parametrize(
    ("factor", "limit", "verdict", "code"),
    [(1.0, 0.5, "fine", 0), (2.0, 0.5, "regressed", 1), (1.5, 0.5, "cannot tell", 0)],
)
def test_a_limit_judges_the_second_of_two_stored_runs(
    factor: float, limit: float, verdict: str, code: int
) -> None:
    stored = compare_run()
    runs = (Evidence(stored), Evidence(scaled(stored, factor, "scudo")))
    found = difference_gate(difference(*runs), runs, {"time": limit}, strict=False)
    [row] = [row for row in found.rows if row.subject == "scudo"]
    assert row.verdict == verdict
    assert ("relative to glibc" in row.sentence) == (row.low is not None)
    alone = replace(found, rows=[row])
    assert exit_code(alone.rows, strict=False) == code
    assert exit_code(alone.rows, strict=True) == (4 if verdict == "cannot tell" else code)


def test_runs_of_two_machines_are_not_judged_by_a_limit() -> None:
    stored = compare_run()
    other = replace(stored.run, machine=replace(stored.run.machine, cpu="another"))
    runs = (Evidence(stored), Evidence(replace(stored, run=other)))
    found = difference_gate(difference(*runs), runs, {"time": 0.5}, strict=False)
    assert found.exit_code == 4
    assert all("the machines differ" in row.sentence for row in found.rows)


def crashing(stored: StoredRun, subject: str, every: int) -> StoredRun:
    """The same run in which each, or each second, timed process of the subject crashed."""
    lost = [
        process.number
        for process in stored.processes
        if process.subject == subject and not process.warm_up and not process.facts.counting
    ][::every]
    return replace(
        stored,
        processes=[
            replace(process, status="crashed", reason="crashed (SIGSEGV)")
            if process.number in lost
            else process
            for process in stored.processes
        ],
        samples=[sample for sample in stored.samples if sample.process not in lost],
    )


def limited(first: StoredRun, second: StoredRun, metric: str = "time") -> dict[str, GateRow]:
    runs = (Evidence(first), Evidence(second))
    found = difference_gate(difference(*runs), runs, {metric: 0.5}, strict=False)
    return {row.subject: row for row in found.rows}


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("place", [0, 1])
def test_a_limit_is_not_met_by_the_processes_that_are_left(every: int, place: int) -> None:
    runs = [compare_run(), compare_run()]
    runs[place] = crashing(runs[place], "jemalloc", every)
    rows = limited(*runs)
    assert rows["scudo"].verdict == "fine"
    assert rows["jemalloc"].verdict == "cannot tell"
    number = "14 of 14" if every == 1 else "7 of 14"
    which = ("first", "second")[place]
    said = f"jemalloc crashed (SIGSEGV) {number} in the {which} run"
    assert said in rows["jemalloc"].sentence
    assert exit_code([rows["jemalloc"]], strict=False) == 4
    found = difference(*map(Evidence, runs))
    assert said in found.notes
    assert {row.verdict for row in found.rows if row.subject == "jemalloc"} <= {"cannot tell"}


def test_a_subject_that_failed_in_all_of_both_runs_has_a_row() -> None:
    crashed = crashing(compare_run(), "jemalloc", 1)
    assert limited(crashed, crashed)["jemalloc"].verdict == "cannot tell"


@pytest.mark.parametrize("place", [0, 1])
def test_a_subject_of_one_run_alone_cannot_be_judged(place: int) -> None:
    whole = compare_run()
    left = replace(
        whole,
        processes=[p for p in whole.processes if p.subject != "scudo"],
        samples=[s for s in whole.samples if s.subject != "scudo"],
    )
    runs = [whole, whole]
    runs[place] = left
    row = limited(*runs)["scudo"]
    assert (row.verdict, row.impossible) == ("cannot tell", True)
    assert f"the {('first', 'second')[place]} run has no such figure of scudo" in row.sentence


def test_a_baseline_that_failed_leaves_no_row_that_can_be_judged() -> None:
    rows = limited(compare_run(), crashing(compare_run(), "glibc", 7))
    assert {row.verdict for row in rows.values()} == {"cannot tell"}
    assert "glibc crashed (SIGSEGV) 2 of" in rows["scudo"].sentence


def test_a_run_that_is_not_trustworthy_is_not_judged() -> None:
    wrong = compare_run(Script(edit=other_output))
    for runs, which in (((wrong, compare_run()), "first"), ((compare_run(), wrong), "second")):
        rows = limited(*runs)
        assert {row.verdict for row in rows.values()} == {"cannot tell"}
        words = f"the {which} run is not trustworthy: V8"
        assert all(words in row.sentence for row in rows.values())
        assert exit_code(list(rows.values()), strict=False) == 4


def test_counts_are_judged_even_if_times_are_not_trustworthy() -> None:
    stored = compare_run(Script(bend=label_matters))
    assert "not trustworthy: V5" in limited(stored, stored)["glibc"].sentence
    assert "not trustworthy" not in limited(stored, stored, "allocations")["glibc"].sentence


def test_counts_of_a_subject_are_not_those_of_another_ones_control() -> None:
    def named(stored: StoredRun, number: int) -> StoredRun:
        """With counts of v1, and of v10 and its control. number: what v1 counted."""
        names = {"mimalloc": "v1", "glibc": "v10", "glibc-control": "v10-control"}
        subjects = [replace(s, name=names.get(s.name, s.name)) for s in stored.run.plan.subjects]
        counting = [p for p in stored.processes if p.facts.counting]
        start = len(stored.processes)
        more = [
            replace(
                counting[0],
                number=start + place,
                subject=name,
                facts=structs.replace(counting[0].facts, calls=Calls(malloc=calls)),
            )
            for place, (name, calls) in enumerate(
                [("v1", number), ("v1", number), ("v10", 900), ("v10-control", 900)]
            )
        ]
        plan = replace(stored.run.plan, subjects=subjects)
        return replace(stored, run=replace(stored.run, plan=plan), processes=more, samples=[])

    one, other = (Evidence(named(compare(), number)) for number in (100, 200))
    found = Difference("a", "b")
    rows = difference_gate(found, (one, other), {"allocations": 0.0}, strict=False).rows
    words = {row.subject: row.verdict for row in rows}
    assert words == {"v1": "regressed", "v10": "fine"}


def test_counts_of_a_subject_that_crashes_are_not_fine() -> None:
    one = compare()
    rows = limited(one, crashing(one, "glibc", 7), "allocations")
    assert rows["glibc"].verdict == "cannot tell"
    assert "glibc crashed (SIGSEGV)" in rows["glibc"].sentence
