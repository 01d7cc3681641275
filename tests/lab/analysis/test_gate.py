"""What a gate makes of its limits and of the checks of trust."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heapwise.analysis import gate
from heapwise.analysis.gate import gate_result
from heapwise.evidence import Evidence
from heapwise.model import Check, GateResult, Trust
from simulation.run import stored_run
from simulation.scenario import Campaign

GATE = Campaign(rounds=30, limit=0.03, deviation=0.003)


def judged(effect: float, failed: str = "") -> GateResult:
    stored = stored_run(replace(GATE, effects=(effect,)), np.random.default_rng(1))
    checks = [Check(failed, "", "fail", "It is wrong.")] if failed else []
    found = gate_result(Evidence(stored), Trust("good", checks))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("effect", "failed", "verdict", "code"),
    [
        (0.2, "", "regressed", 1),
        (0.0, "", "fine", 0),
        (0.2, "V9", "regressed", 1),
        (0.0, "V9", "cannot tell", 4),
        (0.2, "V8", "cannot tell", 4),
        (0.0, "V8", "cannot tell", 4),
    ],
)
def test_checks_that_fail_leave_limits_untold_but_noise_does_not_hide_a_regression(
    effect: float, failed: str, verdict: str, code: int
) -> None:
    found = judged(effect, failed)
    assert (found.verdict, found.exit_code) == (verdict, code)
    [row] = found.rows
    assert (f"{failed} It is wrong" in row.sentence) == (verdict == "cannot tell")


def test_a_sentence_says_how_much_with_interval_and_limit() -> None:
    [row] = judged(0.2).rows
    assert row.confirmed
    assert row.low is not None
    assert row.high is not None
    assert row.low < 0.2 < row.high
    assert row.sentence.startswith("Time regressed: subject0 ")
    for words in ("% slower than baseline (95 % CI", "limit 3 %", "fresh rounds"):
        assert words in row.sentence


def test_only_the_run_of_a_gate_has_a_gate_result() -> None:
    stored = stored_run(replace(GATE, limit=None), np.random.default_rng(1))
    assert gate_result(Evidence(stored), Trust("good", [])) is None


@pytest.mark.parametrize(("effect", "verdict"), [(0.0, "cannot tell"), (0.2, "regressed")])
def test_a_program_that_runs_for_a_fixed_time_is_not_fine(
    monkeypatch: pytest.MonkeyPatch, effect: float, verdict: str
) -> None:
    """A slower build ends after the same time, and has done less."""
    monkeypatch.setattr(gate, "fixed_time", lambda evidence, setup: "two counts differ")
    [row] = judged(effect).rows
    assert row.verdict == verdict
    assert ("may run for a fixed time" in row.sentence) == (verdict == "cannot tell")


@pytest.mark.parametrize(("floor", "proposed"), [(0.01, True), (0.1, False), (None, False)])
def test_a_noisy_time_proposes_the_processor_time_if_that_is_steady_enough(
    monkeypatch: pytest.MonkeyPatch, floor: float | None, proposed: bool
) -> None:
    monkeypatch.setattr(gate, "_steadier", lambda evidence: floor)
    stored = stored_run(replace(GATE, deviation=0.2, effects=(0.0,)), np.random.default_rng(1))
    found = gate_result(Evidence(stored), Trust("good", []))
    assert found is not None
    [row] = found.rows
    assert "this machine cannot tell" in row.sentence
    assert "; the change so far is " in row.sentence
    assert ("--limit cpu_time=3% can tell" in row.sentence) == proposed


@pytest.mark.parametrize(("deviation", "said"), [(0.2, True), (0.003, False)])
def test_a_gate_that_cannot_tell_says_why_nothing_ran_side_by_side(
    monkeypatch: pytest.MonkeyPatch, deviation: float, said: bool
) -> None:
    monkeypatch.setattr(gate, "given_up_pairs", lambda stored: "Side by side, it failed.")
    campaign = replace(GATE, deviation=deviation, effects=(0.0,))
    found = gate_result(Evidence(stored_run(campaign, np.random.default_rng(1))), Trust("good", []))
    assert found is not None
    [row] = found.rows
    assert row.sentence.endswith(". Side by side, it failed.") == said
