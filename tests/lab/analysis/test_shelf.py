"""Expectations, sentences and the least difference, on runs with planted answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from synthetic import compare_run
from synthetic_shelf import Shelf, shelf_run

from heapwise.analysis import analyse, detectable_line, expected_line, headline
from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence
from heapwise.model import Detectable, Result


@pytest.fixture(scope="module")
def result() -> Result:
    return analyse(Evidence(shelf_run()))


def verdicts(found: Result) -> dict[str, str]:
    return {expected.says: expected.verdict for expected in found.expectations}


def test_expectations_come_out_as_planted(result: Result) -> None:
    assert verdicts(result) == {
        "two of many fields gain by their own arrays": "met",
        "nothing is gained twice": "not met",
        "all fields are level": "cannot tell here",
        "tiles are as good": "not measured",
        "memory costs ten times the nearest cache": "met",
        "the nearest cache answers within 2 ns": "met",
        "no load goes astray": "met",
        "a stack of caches beyond": "not measured",
    }


def test_an_expectation_of_several_cells_shows_the_worst_and_keeps_all(result: Result) -> None:
    twice = next(e for e in result.expectations if e.says == "nothing is gained twice")
    assert [part.of for part in twice.parts] == [
        "soa / aos, throughput, fields all",
        "soa / aos, throughput, fields two",
    ]
    assert twice.of == twice.parts[0].of
    assert twice.value == min(part.value or 0 for part in twice.parts)
    assert "2 not met" in twice.note


def test_figures_of_another_cell_are_divided_by(result: Result) -> None:
    costs = next(e for e in result.expectations if e.says.startswith("memory costs"))
    assert costs.low is not None
    assert costs.high is not None
    assert costs.low < 80 < costs.high
    assert "chase / chase with kib 32, latency, kib 65,536 = " in expected_line(costs)


def test_a_refused_cell_says_why(result: Result) -> None:
    tiles = next(e for e in result.expectations if e.says == "tiles are as good")
    assert "no vector unit" in tiles.note
    assert tiles.value is None
    assert any("aosoa was not measured: refused 8 of 8" in f.sentence for f in result.findings)


def test_never_means_in_no_repeat_at_all() -> None:
    calls = iter(range(10**9))  # a few repeats of hundreds, of the chase or its control

    def once(experiment: str, subject: str, cell: dict[str, Any], name: str, value: float) -> float:
        return 1.0 if name == "stray" and 36 <= next(calls) < 60 else value

    found = verdicts(analyse(Evidence(shelf_run(Shelf(bend=once)))))
    assert found["no load goes astray"] == "not met"


@pytest.mark.parametrize("script", [Shelf(smoke=True, rounds=1), Shelf(rounds=1, noise=0.5)])
def test_too_little_is_never_met(script: Shelf) -> None:
    found = verdicts(analyse(Evidence(shelf_run(script))))
    assert found["all fields are level"] == "cannot tell here"
    if script.smoke:
        assert set(found.values()) <= {"cannot tell here", "not measured"}


def test_sentences_are_those_of_the_statistics(result: Result) -> None:
    said = {f.sentence for f in result.findings}
    row = next(r for r in result.rows if r.subject == "soa" and r.parameters["fields"] == "two")
    ratio, low, high = (f"{each:.2f}" for each in (row.ratio, row.ratio_low, row.ratio_high))
    between = "" if low == high == ratio else f", {low} to {high}"
    assert f"fields two: soa {ratio}x faster than aos{between}." in said
    assert any(s.startswith("fields all: no difference between soa and aos beyond ") for s in said)
    assert any(
        "chase with kib 65,536 " in s and "x slower than chase with kib 32" in s for s in said
    )


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1 / 1.42, "1.42x slower than"), (1.03, " % faster than"), (0.5, "2.00x slower than")],
)
def test_a_sentence_has_direction_and_size(factor: float, words: str) -> None:
    def bend(experiment: str, subject: str, cell: dict[str, Any], name: str, value: float) -> float:
        return 500.0 * factor if subject == "soa" and cell["fields"] == "two" else value

    found = analyse(Evidence(shelf_run(Shelf(noise=0.0001, bend=bend)))).findings
    sentence = next(f.sentence for f in found if f.sentence.startswith("fields two: soa"))
    assert words in sentence


def test_the_headline_is_the_largest_certain_difference(result: Result) -> None:
    mine = [f for f in result.findings if f.experiment == "layout/aos_vs_soa"]
    chosen = headline(mine, "throughput")
    assert chosen is not None
    assert chosen.verdict == "better"
    assert headline([], "throughput") is None


@pytest.mark.parametrize("noise", [0.002, 0.05])
def test_the_least_difference_grows_with_the_noise(noise: float) -> None:
    """Of one cell: 3.48 standard errors of the log ratio of 8 medians of 5."""
    found = analyse(Evidence(shelf_run(Shelf(noise=noise)))).detectable
    assert [d.experiment for d in found] == ["layout/aos_vs_soa", "cache/levels"]
    one = found[0]
    expected = 3.26 * noise * 0.536 * 2**0.5 / 8**0.5
    assert one.difference is not None
    assert one.worst is not None
    assert expected / 2 < one.difference < expected * 2
    assert one.worst >= one.difference
    line = detectable_line(found)
    assert ("2 of 2" in line) == (noise < 0.01)
    assert ("processes differ by" in one.note) == (noise > 0.01)


def test_a_least_difference_that_is_larger_than_the_thing_itself_is_a_factor() -> None:
    """10,740 % is not what one who reads it takes for "nothing can be told"."""
    of_three = Detectable("server/one", "throughput", 107.4, 107.4, "", pairs=3, cells=1)
    assert detectable_line([of_three]) == "server/one a factor of 108 with 3 pairs"


def test_it_says_whether_processes_differ_or_the_repeats_within_one() -> None:
    steady = shelf_run()
    of_processes = replace(
        steady,
        samples=[
            replace(
                s,
                values={
                    name: value * (1.2 if s.process % 7 < 3 else 1.0)
                    for name, value in s.values.items()
                },
            )
            for s in steady.samples
        ],
    )
    for stored, processes_more in ((of_processes, True), (shelf_run(Shelf(noise=0.05)), False)):
        words = analyse(Evidence(stored)).detectable[0].note.replace(",", "").split()
        assert (words[0], words[5]) == ("processes", "repeats")
        assert (float(words[3]) > float(words[9])) == processes_more


def test_many_questions_have_no_common_winner() -> None:
    runs = [shelf_run(Shelf(seed=seed)) for seed in range(4)]
    one = runs[0]
    of_four = [
        replace(
            e,
            id=f"{e.id}_{number}",
            baseline=f"{e.baseline}_{number}",
            subjects=[replace(s, name=f"{s.name}_{number}") for s in e.subjects],
        )
        for e in one.run.experiments
        for number in range(4)
    ]
    again = [(number, record) for number, run in enumerate(runs) for record in run.processes]
    step = len(one.processes)
    many = replace(
        one,
        processes=[
            replace(
                p,
                number=p.number + step * n,
                experiment=f"{p.experiment}_{n}",
                subject=_named(p.subject, n),
            )
            for n, p in again
        ],
        samples=[
            replace(
                s,
                process=s.process + step * n,
                experiment=f"{s.experiment}_{n}",
                subject=_named(s.subject, n),
            )
            for n in range(4)
            for s in runs[n].samples
        ],
        run=replace(
            one.run,
            experiments=of_four,
            plan=replace(
                one.run.plan,
                subjects=[
                    replace(s, name=_named(s.name, n))
                    for n in range(4)
                    for s in one.run.plan.subjects
                ],
            ),
        ),
    )
    assert "8 questions" in analyse(Evidence(many)).advice
    assert "questions" not in analyse(Evidence(one)).advice


def _named(subject: str, number: int) -> str:
    inner = subject.removesuffix("-control")
    return f"{inner}_{number}" + subject[len(inner) :]


def test_comparisons_and_smoke_runs_have_no_findings() -> None:
    for stored in (compare_run(), shelf_run(Shelf(smoke=True, rounds=1))):
        found = analyse(Evidence(stored))
        assert not found.findings
        assert not found.detectable
    assert not analyse(Evidence(compare_run())).expectations


def test_a_subject_that_was_slowed_down_on_purpose_is_never_ranked() -> None:
    def slow(experiment: str, subject: str, cell: dict[str, Any], name: str, value: float) -> float:
        return value * 2 if subject == "soa" else value

    honest = analyse(Evidence(shelf_run(Shelf(bend=slow))))
    planted = analyse(Evidence(shelf_run(Shelf(bend=slow, plant={"soa": 3.0}))))
    assert {r.verdict for r in honest.rows if r.subject == "soa"} == {"better"}
    assert {r.verdict for r in planted.rows if r.subject == "soa"} == {"cannot tell"}
    assert all("slowed down on purpose" in r.note for r in planted.rows if r.subject == "soa")
    assert "soa" in honest.advice
    assert "soa" not in planted.advice
    assert all(
        f.verdict == "cannot tell"
        for f in planted.findings
        if "soa" in (f.above, f.below) and f.ratio is not None
    )


def test_the_loop_alone_is_a_yardstick_and_no_rival() -> None:
    def quick(
        experiment: str, subject: str, cell: dict[str, Any], name: str, value: float
    ) -> float:
        return 9000.0 if subject == "empty_loop" else value

    stored = shelf_run(Shelf(bend=quick, refused=(), rename={"aosoa": "empty_loop"}))
    found = analyse(Evidence(stored))
    assert {r.verdict for r in found.rows if r.subject == "empty_loop"} == {"better"}
    assert "empty_loop" not in found.advice
    assert not any("empty_loop" in finding.sentence for finding in found.findings)
    assert all("empty_loop" not in standing.places for standing in standings(Evidence(stored)))
