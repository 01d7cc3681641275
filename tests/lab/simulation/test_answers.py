"""The simulation asks the whole analysis, and would notice if it were wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heapwise.analysis import analyse
from heapwise.analysis.summary import pool_advice
from heapwise.analysis.verdicts import rows
from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Series
from heapwise.stats.ratios import noise
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.store import RunWriter, StoredRun, read_run
from simulation.answers import ask, rows_of
from simulation.promises import promises
from simulation.run import BASELINE, CONTROL, stored_run
from simulation.scenario import Campaign

PROMISES = promises()


def through_the_store(campaign: Campaign, seed: int, store: Path) -> StoredRun:
    """Written to disk line by line, and read again."""
    drawn = stored_run(campaign, np.random.default_rng(seed))
    with RunWriter.create(store, drawn.run) as writer:
        for process in drawn.processes:
            writer.append(process)
            for sample in drawn.samples:
                if sample.process == process.number:
                    writer.append(sample)
    return read_run(store, "last")


@pytest.mark.parametrize(
    "campaign",
    [
        Campaign(6, (0.0, 0.03)),
        Campaign(14, (0.0, 0.01), deviation=0.005, correlation=0.5),
        Campaign(6, (0.0, -0.02), repeats=9, within=0.004, loser="subject"),
        Campaign(8, (0.0,), loser="control"),
        Campaign(2, (0.5,)),
    ],
)
def test_the_rows_are_those_of_the_whole_analysis(campaign: Campaign, tmp_path: Path) -> None:
    read = through_the_store(campaign, 1, tmp_path)
    result = analyse(Evidence(read))
    mine = rows_of(campaign, np.random.default_rng(1))
    theirs = [row for row in result.rows if row.subject not in (BASELINE, CONTROL)]
    assert read.damaged_lines == 0
    assert theirs == mine


def test_a_lost_round_is_lost_to_its_subject_only() -> None:
    campaign = Campaign(6, (0.0, 0.0), loser="subject", repeats=3)
    assert [row.n for row in rows_of(campaign, np.random.default_rng(1))] == [15, 18]


def test_correlation_is_what_it_says() -> None:
    campaign = Campaign(2000, correlation=0.5)
    evidence = Evidence(stored_run(campaign, np.random.default_rng(1)))
    (found,) = comparisons_of(evidence).dependence.values()
    assert found.lag_one == pytest.approx(0.5, abs=0.05)


def narrow(found: PairedRatio, *factors: float) -> PairedRatio:
    """Half as wide as it should be."""
    assert found.low is not None
    assert found.high is not None
    return replace(
        found, low=found.low**0.5 * found.ratio**0.5, high=found.high**0.5 * found.ratio**0.5
    )


def is_broken(name: str, campaigns: int = 60) -> bool:
    promise = PROMISES[name]
    return ask(promise, campaigns, "planted").contradicts(promise.low, promise.high, 0.999)


def test_too_narrow_an_interval_breaks_the_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PairedRatio, "widened", narrow)
    assert is_broken("interval of the ratio, normal noise, 8 rounds")


def test_repeats_as_pairs_have_a_verdict_from_two_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def repeats(series: Series) -> dict[int, float]:
        return {100 * round_ + repeat: value for (round_, repeat), value in series.repeats.items()}

    monkeypatch.setattr(Series, "rounds", property(repeats))
    assert is_broken("no verdict from 2 rounds")


def test_verdicts_by_the_usual_interval_alone_call_equals_different(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "judge", lambda ratio, better, *_: judge(ratio, better, None))
    monkeypatch.setattr(PairedRatio, "strict", property(lambda ratio: (ratio.low, ratio.high)))
    assert is_broken("identical, 4 rounds", campaigns=300)


def test_verdicts_that_nothing_guards_from_dependent_rounds_call_equals_different(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widened = PairedRatio.widened
    monkeypatch.setattr(PairedRatio, "widened", lambda ratio, factor, _=None: widened(ratio, 1.0))
    assert is_broken(
        "identical, rounds correlated at 0.5, 14 rounds, 1 beside the baseline", campaigns=600
    )


def test_a_detectable_difference_without_the_floor_is_found_too_rarely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The formula of a t test, which knows of no floor."""
    monkeypatch.setattr(noise, "_factor", lambda rounds, subjects: 3.6 / rounds**0.5)
    assert is_broken("the printed difference is found 4 times in 5, 6 rounds")


def test_advice_that_looks_at_each_site_alone_is_in_vain_too_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The best of eight by its usual interval, as if it were the only one."""
    monkeypatch.setattr(
        pool_advice,
        "_gains",
        lambda _evidence, row: bool(row and row.ratio_high and row.ratio_high < 1),
    )
    assert is_broken("advice in vain, nothing to gain at 8 sites, 14 rounds")
