"""Rows, verdicts, headlines and advice from runs with known answers."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from planted import with_facts, with_plan
from synthetic import POOL, Script, compare_run, pool_run

from heapwise.analysis import analyse, to_json
from heapwise.analysis.summary.advice import FASTER, _no_winner
from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence
from heapwise.model import Identity, Library, Process, Result, Row
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.store import StoredRun


def row_of(result: Result, subject: str, quantity: str) -> Row:
    return next(r for r in result.rows if r.subject == subject and r.quantity == quantity)


def test_ratios_are_the_planted_ones_and_lie_in_their_intervals() -> None:
    script = Script(rounds=30)
    result = analyse(Evidence(compare_run(script)))
    for subject, truth in script.time.items():
        row = row_of(result, subject, "wall_time")
        if subject == "glibc":
            assert (row.verdict, row.ratio) == ("baseline", None)
            continue
        assert row.ratio == pytest.approx(truth, rel=0.005)
        assert row.ratio_low is not None
        assert row.ratio_high is not None
        assert row.ratio_low <= row.ratio <= row.ratio_high


def test_verdicts_follow_the_direction_of_the_quantity() -> None:
    result = analyse(Evidence(compare_run()))
    words = {s: row_of(result, s, "wall_time").verdict for s in Script().time}
    assert words == {
        "glibc": "baseline",
        "glibc-control": "no difference",
        "mimalloc": "better",
        "jemalloc": "better",
        "scudo": "worse",
    }
    assert row_of(result, "mimalloc", "peak_memory").verdict == "worse"


def test_figures_of_a_row_are_over_all_kept_repeats() -> None:
    stored = pool_run(rounds=3)
    row = row_of(analyse(Evidence(stored)), "mutex", "free")
    values = [s.values["free"] for s in stored.samples if s.subject == "mutex" and s.repeat > 0]
    assert row.n == 27
    assert sorted(row.values) == sorted(values)
    assert row.mean == pytest.approx(np.mean(values))
    assert row.stddev == pytest.approx(np.std(values, ddof=1))


@pytest.mark.parametrize("rounds", [1, 2])
def test_fewer_than_three_rounds_have_no_verdict(rounds: int) -> None:
    row = row_of(analyse(Evidence(pool_run(rounds=rounds))), "mutex", "free")
    assert (row.verdict, row.ratio_low, row.ci_low) == ("cannot tell", None, None)
    assert "rounds that an interval needs" in row.note


def test_with_enough_rounds_there_is_no_note() -> None:
    assert row_of(analyse(Evidence(pool_run(rounds=8))), "mutex", "free").note == ""


def ratio(value: float, low: float | None, high: float | None) -> PairedRatio:
    return PairedRatio(value, low, high, 10, 0.01)


@pytest.mark.parametrize(
    ("found", "floor", "expected"),
    [
        (ratio(0.9, 0.88, 0.92), 0.01, "better"),
        (ratio(1.1, 1.08, 1.12), 0.01, "worse"),
        (ratio(1.1, 1.08, 1.12), None, "worse"),
        (ratio(1.1, 1.08, 1.12), 0.2, "cannot tell"),
        (ratio(1.004, 1.001, 1.007), 0.008, "no difference"),
        (ratio(1.0, 0.99, 1.01), None, "no difference"),
        (ratio(1.0, 0.9, 1.1), None, "cannot tell"),
        (ratio(1.02, 0.97, 1.04), 0.05, "no difference"),
        (ratio(1.02, 0.97, 1.04), 0.3, "cannot tell"),
        (ratio(1.02, 0.94, 1.06), 0.3, "cannot tell"),
        (ratio(0.5, None, None), 0.01, "cannot tell"),
        (None, 0.01, "cannot tell"),
    ],
)
def test_verdict(found: PairedRatio | None, floor: float | None, expected: str) -> None:
    assert judge(found, "lower", floor) == expected
    swapped = {"better": "worse", "worse": "better"}.get(expected, expected)
    assert judge(found, "higher", floor) == swapped


def crashing(process: Process) -> Process:
    if process.subject != "mimalloc":
        return process
    return replace(process, status="crashed", reason="crashed (SIGSEGV)")


def test_a_crash_is_a_row_without_figures_that_is_never_ranked() -> None:
    result = analyse(Evidence(compare_run(Script(edit=crashing))))
    row = row_of(result, "mimalloc", "wall_time")
    assert (row.status, row.n, row.median, row.ratio) == ("crashed", 0, None, None)
    assert row.note == "crashed (SIGSEGV) 14 of 14"
    assert row.verdict == "not measured"
    assert "Fastest: jemalloc" in result.advice
    assert "Without figures: mimalloc" in result.advice


def test_advice_names_the_fastest_the_smallest_and_their_price() -> None:
    assert analyse(Evidence(compare_run())).advice == (
        "Fastest: mimalloc, 10.0 % less time than glibc, with 7.0 % more memory. "
        "Smallest: jemalloc, 15.0 % less memory, with 4.9 % less time."
    )


def test_advice_says_when_there_is_nothing_to_gain() -> None:
    level = dict.fromkeys(Script().time, 1.0)
    advice = analyse(Evidence(compare_run(Script(time=level, memory=level, rounds=30)))).advice
    assert advice == (
        "No allocator is faster than glibc. No allocator needs less memory than glibc."
    )


def test_advice_admits_that_it_cannot_tell() -> None:
    level = dict.fromkeys(Script().time, 1.0)
    advice = analyse(Evidence(compare_run(Script(time=level, noise=0.2, rounds=8)))).advice
    assert "Cannot tell yet" in advice
    assert "heapwise resume 5a11 --time 10m" in advice


@pytest.mark.parametrize(("planned_s", "wall_s", "time"), [(600, 1, "20m"), (30, 60, "90m")])
def test_advice_asks_for_more_time_than_was_planned_or_spent(
    planned_s: float, wall_s: float, time: str
) -> None:
    level = dict.fromkeys(Script().time, 1.0)
    stored = compare_run(Script(time=level, noise=0.2, rounds=8))
    stored = with_facts(with_plan(stored, time_s=planned_s), lambda _: {"wall_s": wall_s})
    assert f"heapwise resume 5a11 --time {time}" in analyse(Evidence(stored)).advice


def test_advice_tells_which_are_worse_before_it_says_of_what_it_cannot_tell() -> None:
    names = ("glibc", "glibc-control", "mimalloc", "jemalloc", "tcmalloc", "scudo")
    level = dict.fromkeys(names, 1.0)
    script = Script(time=level | {"scudo": 1.6}, memory=level, noise=0.04, rounds=9, seed=3)
    advice = analyse(Evidence(compare_run(script))).advice
    assert re.match(
        r"Against glibc: scudo 1\.[5-7]\dx slower \([\d.]+ to [\d.]+\)\. "
        "Cannot tell yet whether any other is faster than glibc",
        advice,
    ), advice


def test_a_worse_subject_is_told_beside_others_that_do_not_differ() -> None:
    names = ("glibc", "glibc-control", "mimalloc", "jemalloc", "tcmalloc", "scudo")
    level = dict.fromkeys(names, 1.0)
    evidence = Evidence(compare_run(Script(time=level | {"scudo": 1.6}, memory=level)))
    said = {"mimalloc": "no difference", "scudo": "worse"}
    rows = [
        replace(row, verdict=said.get(row.subject, "cannot tell"))
        for row in analyse(evidence).rows
        if row.quantity == "wall_time" and row.subject in names[2:]
    ]
    assert re.match(
        r"Against glibc: scudo 1\.[5-7]\dx slower \([^)]+\)\. "
        "Cannot tell yet whether jemalloc or tcmalloc is faster than glibc",
        _no_winner(evidence, rows, "glibc", FASTER),
    )


def test_two_that_are_level_are_both_named() -> None:
    script = Script(time={**Script().time, "jemalloc": 0.9, "mimalloc": 0.8995})
    assert "(level with" in analyse(Evidence(compare_run(script))).advice


def test_many_that_are_level_are_counted_and_not_all_named() -> None:
    names = ("jemalloc", "mimalloc", "rpmalloc", "scudo", "snmalloc")
    time = {"glibc": 1.0, "glibc-control": 1.0} | dict.fromkeys(names, 0.9)
    advice = analyse(
        Evidence(compare_run(Script(time=time, memory=dict.fromkeys(time, 1.0))))
    ).advice
    assert re.search(r"\(level with \w+, \w+, \w+ and 1 more\)", advice), advice


def test_no_advice_from_figures_that_are_not_trustworthy() -> None:
    wrong = [Identity(malloc=Library(path="/lib/other.so", build_id="x"))]
    stored = compare_run(Script(edit=lambda p: replace(p, identity=wrong)))
    result = analyse(Evidence(stored))
    assert result.trust.verdict == "not trustworthy"
    assert result.advice.startswith("No advice: the figures are not trustworthy. V1:")


def test_our_own_subject_gets_no_favour() -> None:
    """Renaming a subject to ours changes its name in the advice and nothing else."""
    plain = Script()
    renamed = Script(
        time={k.replace("scudo", "heapwise"): v for k, v in plain.time.items()},
        memory={k.replace("scudo", "heapwise"): v for k, v in plain.memory.items()},
    )
    theirs, ours = (analyse(Evidence(compare_run(each))).advice for each in (plain, renamed))
    assert theirs.replace("scudo", "heapwise") == ours


def test_headlines_have_published_ratios_beside_them() -> None:
    lines = analyse(Evidence(pool_run(rounds=6))).headlines
    line = next(x for x in lines if x.startswith("bulk alloc_fresh: malloc@glibc / unsync"))
    assert "(Pool against malloc 11.01x; Policies of a pool 6.02x)" in line
    assert POOL["malloc@glibc"] / POOL["unsynchronized"] == pytest.approx(
        float(line.partition("= ")[2].partition("x")[0]), rel=0.03
    )


def test_quantiles_have_no_headline() -> None:
    stored = pool_run(rounds=6)
    bulk = stored.run.experiments[0]
    names = {"alloc_fresh": "alloc_p99_9", "free": "free_max"}
    experiment = replace(bulk, quantities=[replace(q, name=names[q.name]) for q in bulk.quantities])
    samples = [
        replace(s, values={names[k]: v for k, v in s.values.items()}) for s in stored.samples
    ]
    run = replace(stored.run, experiments=[experiment])
    assert analyse(Evidence(replace(stored, run=run, samples=samples))).headlines == []


def test_a_smoke_run_has_no_headlines() -> None:
    stored = pool_run(rounds=6, threads=[4])
    plan = replace(stored.run.plan, smoke=True)
    result = analyse(Evidence(replace(stored, run=replace(stored.run, plan=plan))))
    assert result.headlines == []


def test_published_values_stand_beside_their_rows_only() -> None:
    result = analyse(Evidence(pool_run()))
    assert row_of(result, "unsynchronized", "alloc_fresh").published_value == 6.857
    assert row_of(result, "malloc@glibc", "alloc_fresh").published_value == 75.529
    assert row_of(result, "malloc@mimalloc", "alloc_fresh").published_value is None
    assert row_of(result, "unsynchronized", "free").published_value is None


def test_an_interrupted_run_is_analysed_as_far_as_it_goes() -> None:
    whole = compare_run()
    cut = replace(
        whole,
        processes=whole.processes[:33],
        samples=whole.samples[:34],
        run=replace(whole.run, state="interrupted"),
    )
    result = analyse(Evidence(cut))
    assert {row.subject for row in result.rows} == set(Script().time)
    assert all(row.n <= 6 for row in result.rows)


def test_a_run_without_a_sample_is_not_an_error() -> None:
    whole = compare_run()
    result = analyse(Evidence(replace(whole, processes=[], samples=[])))
    assert result.rows == []
    assert result.advice.startswith("No advice")


@pytest.mark.parametrize("stored", [compare_run(), pool_run(), pool_run(6, threads=[1, 2])])
def test_json_has_what_is_promised(stored: StoredRun) -> None:
    result = analyse(Evidence(stored))
    document = json.loads(json.dumps(to_json(result)))
    assert {"run", "rows", "trust", "advice"} <= document.keys()
    assert document["run"]["id"] == "5a11"
    for name, records in (("rows", result.rows), ("findings", result.findings)):
        assert [(d["experiment"], d["parameters"]) for d in document[name]] == [
            (r.experiment, {**r.cell.parameters, "quantity": r.cell.quantity}) for r in records
        ]
    for row in document["rows"]:
        assert {
            "subject",
            "experiment",
            "parameters",
            "unit",
            "n",
            "min",
            "median",
            "mean",
            "max",
            "stddev",
            "ci_low",
            "ci_high",
            "ratio",
            "ratio_low",
            "ratio_high",
        } <= row.keys()
        assert "quantity" in row["parameters"]
    assert {"verdict", "checks"} <= document["trust"].keys()


def test_the_noise_floor_is_that_of_the_first_quantity() -> None:
    result = analyse(Evidence(compare_run()))
    assert result.noise_floor is not None
    assert 0 < result.noise_floor < 0.01
    assert analyse(Evidence(pool_run())).noise_floor is None
