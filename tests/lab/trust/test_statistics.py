"""V5, V6 and V23: what two labels of one allocator, planted effects and few rounds show."""

from __future__ import annotations

import re
from dataclasses import replace

from planted import compare, effect, more_memory_by_label, verdict_of, with_selftest
from synthetic import Script, compare_run
from synthetic_shelf import Shelf, shelf_run

from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import (
    Sample,
)


def test_two_rounds_say_nothing_of_labels_however_many_repeats_they_have() -> None:
    """Repeats of a process share what it has; only rounds are independent."""

    def another(sample: Sample) -> Sample:
        factor = 1.5 + sample.round / 2 if sample.subject == "aos-control" else 1.0
        return replace(
            sample, values={name: value * factor for name, value in sample.values.items()}
        )

    few = shelf_run(Shelf(rounds=2))
    found = verdict_of(replace(few, samples=[another(s) for s in few.samples]), "V5")
    assert found.verdict == "unavailable"


def test_an_effect_of_one_percent_may_be_lost_in_the_noise() -> None:
    found = verdict_of(with_selftest(compare(), effect(1, "too noisy"), effect(10, "found")), "V6")
    assert found.verdict == "pass"
    assert "Found 1 of 2 effects" in found.detail


def test_a_run_with_rounds_enough_is_not_told_that_fewer_could_tell() -> None:
    few = verdict_of(compare_run(Script(rounds=6)), "V23").detail
    assert few.endswith("would not survive 3 comparisons at once; at least 7 rounds are needed.")
    times = dict.fromkeys(("glibc", "glibc-control", "mimalloc", *"abcde"), 1.0)
    many = verdict_of(
        compare_run(
            Script(time=times | {"mimalloc": 1.05}, memory=times, rounds=10, noise=0.03, seed=2)
        ),
        "V23",
    )
    assert many.detail.endswith("would not survive 6 comparisons at once; more rounds could tell.")


def test_the_aa_test_counts_the_intervals_that_it_shows() -> None:
    """The first quantity is always zero here, so that only others have A/A intervals."""
    stored = compare_run(
        Script(
            noise=0.004,
            bend=lambda name, round, time: time * (1.0045 if name == "glibc-control" else 1.0),
        )
    )
    zero = replace(
        stored, samples=[replace(s, values=s.values | {"wall_time": 0.0}) for s in stored.samples]
    )
    found = verdict_of(zero, "V5")
    floors = found.figures["floors"]
    assert sum(floor["low"] <= 1 <= floor["high"] for floor in floors) == 2
    assert found.detail.startswith("2 of 3 A/A intervals contain 1")


def test_a_difference_that_only_the_usual_interval_shows_is_not_claimed() -> None:
    stored = compare_run(
        Script(
            seed=5,
            time={
                "glibc": 1.0,
                "glibc-control": 1.0,
                "mimalloc": 0.997,
                "jemalloc": 0.9975,
                "scudo": 1.0,
            },
        )
    )
    evidence = Evidence(stored)
    claims = {
        claim.subject: claim
        for (cell, _), claim in comparisons_of(evidence).claims.items()
        if cell.quantity == "wall_time"
    }
    shown, _ = comparisons_of(evidence).ratio(
        (claims["mimalloc"].cell, "mimalloc"), (claims["mimalloc"].cell, "glibc")
    )
    assert shown is not None
    assert shown.high is not None
    assert shown.high < 1
    assert not claims["mimalloc"].differs
    assert "mimalloc" not in str(verdict_of(stored, "V23").figures["fall_to_holm"])


def test_memory_that_differs_by_its_label_bars_no_answer_on_time() -> None:
    found = verdict_of(more_memory_by_label(compare_run(Script(noise=0.002, rounds=8))), "V5")
    assert found.detail == (
        "The same thing under two labels does not come out the same: peak_memory differs by 4.8 %. "
        "The noise floor covers it."
    )


def test_few_noisy_rounds_have_no_exact_figure_of_what_they_would_find() -> None:
    noisy = verdict_of(compare_run(Script(noise=1.0, rounds=3)), "V5").detail
    assert "no difference by a factor of less than 10 would be found there" in noisy
    usual = verdict_of(compare_run(Script(noise=0.1, rounds=8)), "V5").detail
    assert re.search(r"; a difference of [0-9.]+ % would be found there 4 times in 5", usual)
