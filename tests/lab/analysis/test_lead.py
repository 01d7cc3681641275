"""Which subject is behind which, and by how much, where the truth is known."""

from __future__ import annotations

import pytest
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.analysis.summary.findings import headline
from heapwise.analysis.verdicts.standing import alone, standings
from heapwise.evidence import Evidence
from heapwise.model import Cell, Finding, Settings

CAMPAIGNS = 80


def equal(subjects: int, rounds: int, seed: int, time: float = 1.0) -> Evidence:
    """Subjects that take ``time`` of the baseline's, each with a deviation of 0.5 % a round."""
    times = {"glibc": 1.0, "glibc-control": 1.0} | {f"a{i}": time for i in range(subjects - 1)}
    memory = dict.fromkeys(times, 1.0)
    return Evidence(compare_run(Script(times, memory, rounds=rounds, noise=0.005, seed=seed)))


@pytest.mark.parametrize(("subjects", "rounds"), [(8, 6), (15, 9)])
def test_of_equal_subjects_hardly_ever_one_is_behind(subjects: int, rounds: int) -> None:
    behind = firsts = 0
    for seed in range(CAMPAIGNS):
        found = [
            s for s in standings(equal(subjects, rounds, seed)) if s.quantity.name == "wall_time"
        ]
        behind += len(found[0].level()) < len(found[0].places)
        firsts += len(alone(found))
    assert behind <= 0.05 * CAMPAIGNS
    assert firsts == 0


def test_advice_states_no_lead_that_comes_from_the_choice() -> None:
    words = [analyse(equal(9, 6, seed)).advice for seed in range(15)]
    assert not any("Fastest" in sentence for sentence in words)


def test_advice_says_why_it_is_less_sure_than_a_row() -> None:
    explained = 0
    for seed in range(30):
        result = analyse(equal(9, 6, seed, 0.993))
        better = [
            row.subject
            for row in result.rows
            if row.quantity == "wall_time" and row.verdict == "better"
        ]
        if not better or "Fastest" in result.advice:
            continue
        assert (
            f" is faster than glibc (the table says so of {' and '.join(better[:3])}, but the "
            "best of 8 may have that by chance)."
        ) in result.advice
        explained += 1
    assert explained


def finding(subject: str, ratio: float, low: float, high: float, *, certain: bool) -> Finding:
    return Finding(
        Cell("e", Settings({}), "time"),
        subject,
        "glibc",
        ratio,
        low,
        high,
        "worse",
        f"{subject}.",
        certain=certain,
    )


def test_a_headline_is_certain_among_all_findings_and_large_at_its_nearer_end() -> None:
    noisy = finding("noisy", 1.9, 1.02, 3.0, certain=True)
    clear = finding("clear", 1.5, 1.48, 1.52, certain=True)
    lucky = finding("lucky", 9.0, 8.0, 10.0, certain=False)
    assert headline([noisy, lucky, clear], "time") == clear
    assert headline([lucky], "time") == lucky
