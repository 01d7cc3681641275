"""Conclusions of a published report, judged from runs whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic import POOL, pool_run

from heapwise.analysis import analyse
from heapwise.analysis.verdicts.verdict import Figure
from heapwise.catalog.published_file import read_published
from heapwise.evidence import Evidence
from heapwise.store import StoredRun
from heapwise.study.reproduce.judged import source_text, verdict_of
from heapwise.study.reproduce.reproduced import (
    MeasuredRun,
    Reproduced,
    reproduce,
    reproduce_from,
)
from heapwise.study.reproduce.tell import runs_words

TRUTH = POOL["malloc@glibc"] / POOL["unsynchronized"]

HEAD = """
title = "A report"
origin = "A report"
[machine.one]
title = "A machine"
[[table]]
name = "times"
title = "Times"
machine = "one"
unit = "us/op"
scale = 1000
experiment = "pool/bulk"
quantity = "alloc_fresh"
columns = [
  {title = "median"},
  {title = "min", statistic = "min"},
  {title = "change", over = {subject = "unsynchronized"}, unit = "%", scale = 0.01, offset = 1.0},
]
  [[table.row]]
  title = "pool"
  name = "pool"
  subject = "unsynchronized"
  values = [0.0068, 0.0064, 0]
  [[table.row]]
  title = "malloc"
  name = "malloc"
  subject = "malloc@glibc"
  values = [0.075, 0.072, "+900"]
  [[table.row]]
  title = "absent"
  name = "absent"
  subject = "malloc@nobody"
  values = [0.075, "-", "-"]
"""


def report(folder: Path, *statements: str, more: str = "") -> Path:
    path = folder / "mine.toml"
    path.write_text(
        HEAD
        + "".join(
            f'[[conclusion]]\nsays = "{words}"\nshows = ["{words}"]\n{more}\n'
            for words in statements
        )
    )
    return path


def judged(stored: StoredRun, path: Path) -> Reproduced:
    evidence = Evidence(stored)
    return reproduce(evidence, read_published(path), analyse(evidence).trust)


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (f"malloc / pool >= {TRUTH / 2:.3f}", "confirmed"),
        (f"malloc / pool >= {TRUTH * 2:.3f}", "refuted"),
        (f"malloc / pool within {TRUTH / 2:.3f}..{TRUTH * 2:.3f}", "confirmed"),
        (f"malloc / pool <= {TRUTH / 2:.3f}", "refuted"),
        (f"malloc / pool >= {TRUTH:.3f}", "cannot tell here"),
        (f"malloc * malloc / pool / pool >= {TRUTH**2 / 2:.3f}", "confirmed"),
        ("malloc * pool / pool / malloc >= 2", "refuted"),
        ("pool >= 0.001", "confirmed"),
        ("malloc / absent >= 1", "not possible here"),
    ],
)
def test_a_conclusion_is_judged_by_the_truth(tmp_path: Path, words: str, verdict: str) -> None:
    found = judged(pool_run(rounds=8), report(tmp_path, words))
    assert found.conclusions[0].verdict == verdict, found.conclusions[0]
    assert found.counts[verdict] == 1


def test_the_strict_interval_decides_and_not_that_of_95_percent(tmp_path: Path) -> None:
    """A bound between the ends of both: the usual interval excludes it, which is not a verdict."""
    stored = pool_run(rounds=8)
    part = judged(stored, report(tmp_path, "malloc / pool >= 1")).conclusions[0].parts[0]
    evidence = Evidence(stored)
    row = next(
        row
        for row in analyse(evidence).rows
        if row.quantity == "alloc_fresh" and row.subject == "unsynchronized"
    )
    assert part.low is not None
    assert row.ratio_high is not None
    usual = 1 / row.ratio_high
    assert part.low < usual, "the strict interval is wider"
    between = (part.low + usual) / 2
    found = judged(stored, report(tmp_path, f"malloc / pool >= {between:.6f}"))
    assert found.conclusions[0].verdict == "cannot tell here"


def test_one_refuted_statement_refutes_a_conclusion(tmp_path: Path) -> None:
    path = report(tmp_path, "malloc / pool >= 1")
    path.write_text(
        path.read_text().replace(
            'shows = ["malloc / pool >= 1"]',
            'shows = ["malloc / pool >= 1", "malloc / absent >= 1", "malloc / pool <= 1"]',
        )
    )
    found = judged(pool_run(rounds=8), path).conclusions[0]
    assert found.verdict == "refuted"
    assert [part.verdict for part in found.parts] == ["confirmed", "not possible here", "refuted"]


def test_a_conclusion_that_cannot_be_judged_says_why(tmp_path: Path) -> None:
    stored = pool_run(rounds=8)
    path = report(tmp_path, "malloc / pool >= 1", more="processors = 64")
    found = judged(stored, path).conclusions[0]
    assert (found.verdict, found.reason) == (
        "not possible here",
        f"it takes 64 processors, and here is {stored.run.machine.cores}",
    )
    smoke = replace(stored, run=replace(stored.run, plan=replace(stored.run.plan, smoke=True)))
    found = judged(smoke, report(tmp_path, "malloc / pool >= 1")).conclusions[0]
    assert (found.verdict, found.reason) == ("cannot tell here", "a smoke run is too short to tell")
    few = judged(pool_run(rounds=2), report(tmp_path, "malloc / pool >= 1")).conclusions[0]
    assert few.verdict == "cannot tell here"
    absent = judged(stored, report(tmp_path, "absent / pool >= 1")).conclusions[0]
    assert "nobody is not installed" in absent.reason


def test_figures_stand_beside_the_report_s_in_its_unit(tmp_path: Path) -> None:
    evidence = Evidence(pool_run(rounds=8))
    rows = {row.subject: row for row in analyse(evidence).rows if row.quantity == "alloc_fresh"}
    [table] = judged(pool_run(rounds=8), report(tmp_path)).tables
    pool, malloc, absent = table.ours
    assert pool[0].value == pytest.approx((rows["unsynchronized"].median or 0) / 1000)
    assert pool[1].value == pytest.approx((rows["unsynchronized"].min or 0) / 1000)
    assert malloc[2].value == pytest.approx((TRUTH - 1) * 100, rel=0.05)
    assert malloc[2].low is not None
    assert absent[0].value is None
    assert "not installed" in absent[0].note


def test_a_spread_is_that_of_the_repeats_of_a_process(tmp_path: Path) -> None:
    stored = pool_run(rounds=8)
    wilder = [
        replace(
            sample,
            values={
                name: value * (1.3 if sample.repeat % 2 else 1.0)
                for name, value in sample.values.items()
                if value
            },
        )
        if sample.subject == "malloc@glibc"
        else sample
        for sample in stored.samples
    ]
    path = report(tmp_path, "spread(malloc) / spread(pool) >= 2")
    found = judged(replace(stored, samples=wilder), path).conclusions[0]
    assert found.verdict == "confirmed", found
    assert judged(stored, path).conclusions[0].verdict != "confirmed"


@pytest.mark.parametrize(
    ("printed", "words", "verdict", "size"),
    [
        (0.075, f"malloc / pool about {TRUTH:.3f}", "confirmed", "as published"),
        (0.075, f"malloc / pool about {TRUTH * 3:.3f}", "confirmed", "another size"),
        (0.0068 * TRUTH, "malloc / pool >= 1", "confirmed", "as published"),
        (0.0068 * TRUTH * 3, "malloc / pool >= 1", "confirmed", "another size"),
        (0.0068 * TRUTH * 1.5, "malloc / pool >= 1", "confirmed", "cannot tell here"),
        (0.0068 * TRUTH, "malloc / pool <= 1", "refuted", "as published"),
        (0.075, f"malloc / pool within 1..{TRUTH * 2:.3f}", "confirmed", ""),
        (0.075, "malloc / pool level", "refuted", ""),
        (0.075, "malloc / absent >= 1", "not possible here", "not possible here"),
    ],
)
def test_direction_and_size_are_two_verdicts(
    tmp_path: Path, printed: float, words: str, verdict: str, size: str
) -> None:
    path = report(tmp_path, words)
    path.write_text(path.read_text().replace("[0.075, 0.072,", f"[{printed:.6f}, 0.072,"))
    found = judged(pool_run(rounds=8), path)
    assert (found.conclusions[0].verdict, found.conclusions[0].size) == (verdict, size)
    assert sum(found.size_counts.values()) == bool(size)


NONE = "no such effect"


@pytest.mark.parametrize(
    ("words", "low", "value", "high", "verdict"),
    [
        ("malloc / pool >= 1", 0.95, 0.998, 1.003, NONE),
        ("malloc / pool <= 1", 0.997, 1.002, 1.05, NONE),
        ("malloc / pool >= 1", 0.88, 0.98, 1.05, "cannot tell here"),
        ("malloc / pool >= 1", 0.98, 1.04, 1.19, "cannot tell here"),
        ("malloc / pool >= 1", 1.02, 1.05, 1.08, "confirmed"),
        ("malloc / pool >= 1", 0.92, 0.95, 0.98, "refuted"),
        ("malloc / pool about 3", 0.98, 1.04, 1.19, NONE),
        ("malloc / pool about 3", 0.7, 1.4, 2.1, "cannot tell here"),
        ("malloc / pool about 3", 1.02, 1.1, 1.19, "confirmed"),
        ("malloc / pool about 1.3", 0.95, 1.0, 1.05, NONE),
        ("malloc / pool about 0.3", 0.9, 1.0, 1.4, NONE),
        ("malloc / pool about 0.3", 0.4, 0.8, 1.4, "cannot tell here"),
        ("malloc / pool level", 0.8, 1.0, 1.2, "cannot tell here"),
        ("malloc / pool >= 2", 0.99, 1.0, 1.01, "refuted"),
    ],
)
def test_a_difference_that_is_not_here_has_a_verdict_of_its_own(
    tmp_path: Path, words: str, low: float, value: float, high: float, verdict: str
) -> None:
    [conclusion] = read_published(report(tmp_path, words)).conclusions
    [statement] = conclusion.statements
    assert verdict_of(statement, Figure(value, low, high), 0.01) == verdict


def test_level_figures_say_nothing_where_the_noise_is_wider(tmp_path: Path) -> None:
    [conclusion] = read_published(report(tmp_path, "malloc / pool >= 1")).conclusions
    [statement] = conclusion.statements
    assert verdict_of(statement, Figure(1.0, 0.99, 1.01), 0.2) == "cannot tell here"


def test_a_smoke_run_has_no_verdict_on_a_size(tmp_path: Path) -> None:
    stored = pool_run(rounds=8)
    smoke = replace(stored, run=replace(stored.run, plan=replace(stored.run.plan, smoke=True)))
    found = judged(smoke, report(tmp_path, "malloc / pool >= 1")).conclusions[0]
    assert found.size == "cannot tell here"


def test_a_figure_is_judged_beside_the_published_one(tmp_path: Path) -> None:
    """The file prints 0.0068 us, which is 6.8 ns."""
    stored = pool_run(rounds=8)
    share = POOL["unsynchronized"] / 6.8
    for low, high, verdict in (
        (share / 2, share * 2, "confirmed"),
        (share * 2, share * 3, "refuted"),
    ):
        words = f"pool / published(pool) within {low:.4f}..{high:.4f}"
        found = judged(stored, report(tmp_path, words)).conclusions[0]
        assert found.verdict == verdict
        assert found.parts[0].value == pytest.approx(share, rel=0.1)


def test_a_peak_is_the_largest_repeat_of_a_process(tmp_path: Path) -> None:
    stored = pool_run(rounds=8)
    higher = [
        replace(
            sample,
            values={
                name: value * (2.0 if sample.repeat == 1 else 1.0)
                for name, value in sample.values.items()
                if value
            },
        )
        for sample in stored.samples
    ]
    path = report(tmp_path, "peak(malloc) <= 1.5")
    assert judged(stored, path).conclusions[0].verdict == "confirmed"
    assert judged(replace(stored, samples=higher), path).conclusions[0].verdict == "refuted"


def test_a_conclusion_names_its_source(tmp_path: Path) -> None:
    path = report(tmp_path, "malloc / pool >= 1", more='source = "figures"')
    assert source_text(judged(pool_run(rounds=6), path).conclusions[0]) == "its figures show"


def test_each_experiment_is_from_its_quieter_run(tmp_path: Path) -> None:
    path = report(tmp_path, "malloc / pool >= 1")
    first, second = pool_run(rounds=6), pool_run(rounds=7)
    second = replace(second, run=replace(second.run, id="beef"))
    evidences = Evidence(first), Evidence(second)
    trusts = [analyse(each).trust for each in evidences]

    def rows_of(noise: float) -> Reproduced:
        runs = [
            MeasuredRun(evidences[0], trusts[0], {"pool/bulk": 0.05}),
            MeasuredRun(evidences[1], trusts[1], {"pool/bulk": noise}),
        ]
        return reproduce_from(runs, read_published(path))

    alone = [judged(stored, path).tables[0].ours for stored in (first, second)]
    assert rows_of(0.01).tables[0].ours == alone[1]
    assert rows_of(0.01).run_of == {"pool/bulk": "beef"}
    assert rows_of(0.09).tables[0].ours == alone[0]
    assert runs_words(rows_of(0.01)) == (
        "Each experiment is from its quieter run. run beef: pool/bulk."
    )
    assert runs_words(judged(first, path)) == ""


def test_a_run_without_the_experiment_is_not_asked(tmp_path: Path) -> None:
    path = report(tmp_path, "malloc / pool >= 1")
    whole = Evidence(pool_run(rounds=6))
    other = pool_run(rounds=6)
    empty = Evidence(replace(other, run=replace(other.run, id="beef", experiments=[]), samples=[]))
    runs = [
        MeasuredRun(empty, analyse(whole).trust, {"pool/bulk": 0.0}),
        MeasuredRun(whole, analyse(whole).trust, {"pool/bulk": 0.5}),
    ]
    found = reproduce_from(runs, read_published(path))
    assert found.run_of == {"pool/bulk": whole.stored.run.id}
    assert found.conclusions[0].verdict == "confirmed"
