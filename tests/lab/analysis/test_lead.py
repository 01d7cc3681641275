"""Which subject is behind which, and by how much, where the truth is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from synthetic import Script, compare_run, pool_run

from heapwise.analysis import analyse
from heapwise.analysis.summary.advice import advise
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


def test_one_that_cannot_be_told_from_the_fastest_is_named_whatever_its_verdict() -> None:
    """The time of scudo is as short as that of the fastest, and scatters by a third."""
    times = {"glibc": 1.0, "glibc-control": 1.0, "mimalloc": 0.9, "jemalloc": 1.0, "scudo": 0.9}
    scatter = np.random.default_rng(4).lognormal(0, 0.3, 100)
    script = Script(
        times,
        dict.fromkeys(times, 1.0),
        rounds=9,
        bend=lambda name, round_, value: value * scatter[round_] if name == "scudo" else value,
    )
    result = analyse(Evidence(compare_run(script)))
    words = {row.subject: row.verdict for row in result.rows if row.quantity == "wall_time"}
    assert words["scudo"] == "cannot tell"
    assert "Fastest: mimalloc" in result.advice
    assert "(level with scudo)" in result.advice


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no difference", "no difference"), "of 1 cells: no difference in 1."),
        (("worse", "no difference"), "of 1 cells: no difference in 1."),
        (("worse", "worse"), "of 1 cells: malloc@glibc in 1."),
        (("no difference", "cannot tell"), "Cannot tell yet which is"),
    ],
)
def test_a_baseline_is_first_only_if_all_others_are_worse(
    words: tuple[Literal["worse", "no difference", "cannot tell"], ...], said: str
) -> None:
    evidence = Evidence(pool_run(rounds=9))
    result = analyse(evidence)
    others = [name for name in evidence.subjects if name not in evidence.labels]
    verdicts = dict(zip(others, words, strict=False))
    rows = [
        row if row.baseline else replace(row, verdict=verdicts[row.subject])
        for row in result.rows
        if row.baseline or row.subject in verdicts
    ]
    advice = advise(evidence, rows, result.trust)
    assert said in advice
