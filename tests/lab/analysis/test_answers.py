"""What an experiment declares as the answer to its question, on runs with planted answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synthetic_shelf import Shelf, shelf_run

from heapwise.analysis import analyse, headline
from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence
from heapwise.model import Answer, Experiment, Finding, Result
from heapwise.report import View
from heapwise.report.story import story


def declared(*answers: Answer, **changes: Any) -> Evidence:
    """The run of the shelf whose first experiment declares these answers."""
    stored = shelf_run(Shelf(refused=()))
    first, *others = stored.run.experiments
    changed = replace(first, answers=list(answers), **changes)
    return Evidence(replace(stored, run=replace(stored.run, experiments=[changed, *others])))


def told(result: Result) -> list[Finding]:
    return [f for f in result.findings if f.answer]


def test_the_page_opens_with_the_answer_and_not_with_the_largest_difference() -> None:
    evidence = declared(Answer("throughput", "soa", "aos", {"fields": "all"}))
    result = analyse(evidence)
    assert [f.sentence.partition(":")[0] for f in told(result)] == ["fields all"]
    first = evidence.stored.run.experiments[0]
    opened = story(View(evidence), first)
    assert opened.first == [told(result)[0].sentence]
    assert opened.headline == told(result)[0].sentence
    mine = [f for f in result.findings if f.experiment == first.id]
    assert headline(mine, "throughput") == told(result)[0]
    without = [f for f in mine if not f.answer]
    assert "soa 1.4" in (headline(without, "throughput") or told(result)[0]).sentence


def test_one_subject_is_compared_with_itself_where_the_cell_differs() -> None:
    evidence = declared(Answer("throughput", "soa", "", {"fields": "two"}, {"fields": "all"}))
    assert [f.sentence.split(", ")[0] for f in told(analyse(evidence))] == [
        "soa with fields two 1.42x faster than soa with fields all"
    ]


def test_the_best_of_each_cell_is_named_with_its_lead() -> None:
    found = told(analyse(declared(Answer("throughput"))))
    assert [f.verdict for f in found] == ["cannot tell", "better"]
    assert found[0].sentence.startswith("fields all: level at the head: ")
    assert found[1].sentence.startswith("fields two: soa is first; soa 1.4")
    assert found[1].certain


def test_an_answer_of_cells_that_the_run_does_not_have_says_nothing() -> None:
    assert not told(analyse(declared(Answer("throughput", "soa", "aos", {"fields": "none"}))))
    assert not told(
        analyse(declared(Answer("throughput", "soa", "", {"fields": "two"}, {"fields": "none"})))
    )


def test_a_yardstick_is_shown_and_neither_ranked_nor_compared() -> None:
    plain = declared(Answer("throughput"))
    subjects = [
        replace(s, yardstick=s.name == "soa") for s in plain.stored.run.experiments[0].subjects
    ]
    evidence = declared(Answer("throughput"), subjects=subjects)
    layout = evidence.stored.run.experiments[0].id
    result = analyse(evidence)
    assert any(row.subject == "soa" for row in result.rows)
    named = {name for f in result.findings if f.experiment == layout for name in (f.above, f.below)}
    assert not any(name.split()[0] == "soa" for name in named)
    assert all("soa" not in s.places for s in standings(evidence) if s.cell.experiment == layout)


def sentences(evidence: Evidence, experiment: Experiment) -> list[str]:
    return [f.sentence for f in analyse(evidence).findings if f.experiment == experiment.id]


def test_cells_of_different_work_are_not_compared() -> None:
    plain = declared()
    first = plain.stored.run.experiments[0]
    assert any("with fields two" in s for s in sentences(plain, first))
    parameters = [replace(p, changes_work=True) for p in first.parameters]
    changed = declared(parameters=parameters)
    found = sentences(changed, first)
    assert found
    assert not any("with fields two" in s for s in found)


def test_a_quantity_that_restates_another_is_in_no_sentence() -> None:
    stored = shelf_run()
    levels = stored.run.experiments[1]
    assert len(levels.quantities) > 1
    first, *others = levels.quantities
    changed = replace(levels, quantities=[replace(first, restates=others[0].name), *others])
    experiments = [stored.run.experiments[0], changed]
    evidence = Evidence(replace(stored, run=replace(stored.run, experiments=experiments)))
    assert any(f.cell.quantity == first.name for f in analyse(Evidence(stored)).findings)
    assert not any(f.cell.quantity == first.name for f in analyse(evidence).findings)


def test_no_difference_at_all_names_no_bound() -> None:
    found = analyse(Evidence(shelf_run(Shelf(noise=0.0, refused=())))).findings
    same = [f.sentence for f in found if f.verdict == "no difference"]
    assert same
    assert not [sentence for sentence in same if "0.0 %" in sentence]
