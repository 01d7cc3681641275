"""The end of a long run on the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synthetic_heap import SPEED, Heap, experiment_of, heap_run

from heapwise.analysis import analyse
from heapwise.document.terminal import terminal
from heapwise.evidence import Evidence
from heapwise.model import Experiment, Process, Quantity
from heapwise.store import StoredRun
from heapwise.study.experiments.standing_tables import standing_tables
from heapwise.study.experiments.tell import MANY_ROWS, figures


def test_each_row_has_a_line_with_the_best_and_how_far_the_others_are_behind() -> None:
    text = terminal(standing_tables(Evidence(heap_run(Heap(threads=(1, 2))))))
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines() if line}
    titles = ("Speed", "Memory", "Latency", "Other measures of memory, and all else")
    assert [t for t in lines if t.endswith("behind the best (?: cannot tell)")] == [
        f"{title}: times behind the best (?: cannot tell)" for title in titles
    ]
    names = text.splitlines()[0].split()[-5:]
    row = dict(zip(names, lines["rl_small throughput threads=2"][-5:], strict=True))
    assert (row["heapwise"], row["jemalloc"], row["glibc"]) == ("best", "1.46", "1.90")
    behind = [float(row[name]) for name in names[1:]]
    assert behind == sorted(behind), "the subjects are in the order of their speed"
    assert "?" in text


def test_a_factor_without_an_interval_has_a_mark_of_every_subject() -> None:
    pair = experiment_of(
        "heap/pair", [Quantity("pair", "ns/op", "lower")], [*SPEED, "heap_inlined"]
    )
    text = terminal(standing_tables(Evidence(heap_run(Heap(threads=[1], rounds=2, extra=[pair])))))
    row = next(line for line in text.splitlines() if line.startswith("pair pair ")).split()[2:]
    assert sorted(figure == "best" or figure.endswith("?") for figure in row) == [True] * 6


def test_experiments_without_subjects_in_common_have_a_table_each() -> None:
    both = heap_run(Heap(threads=(1, 2)))
    other = replace(
        both,
        processes=[_of_another(p) for p in both.processes],
        samples=[_of_another(s) for s in both.samples],
    )
    text = terminal(
        standing_tables(
            Evidence(
                replace(
                    both,
                    processes=both.processes + other.processes,
                    samples=both.samples + other.samples,
                    run=replace(
                        both.run,
                        experiments=[*both.run.experiments, *_experiments_of_another(both)],
                        plan=replace(
                            both.run.plan,
                            subjects=[
                                *both.run.plan.subjects,
                                *(
                                    replace(s, name=f"their_{s.name}")
                                    for s in both.run.plan.subjects
                                ),
                            ],
                        ),
                    ),
                )
            )
        )
    )
    heads = [line for line in text.splitlines() if "behind the best" in line]
    assert heads == ["Times behind the best (?: cannot tell)"]
    heads = [line.split(": speed")[1].split() for line in text.splitlines() if ": speed" in line]
    assert len(heads) == 2
    assert [sum(name.startswith("their_") for name in head) for head in heads] == [0, len(heads[1])]


def _of_another(record: Any) -> Any:
    return replace(
        record,
        experiment=record.experiment.replace("heap/", "theirs/"),
        subject=f"their_{record.subject}",
        **(
            {"number": record.number + 10_000}
            if isinstance(record, Process)
            else {"process": record.process + 10_000}
        ),
    )


def _experiments_of_another(stored: StoredRun) -> list[Experiment]:
    return [
        replace(
            e,
            id=e.id.replace("heap/", "theirs/"),
            baseline=f"their_{e.baseline}",
            subjects=[replace(s, name=f"their_{s.name}") for s in e.subjects],
        )
        for e in stored.run.experiments
    ]


def test_many_rows_end_in_it_and_few_in_all_their_figures() -> None:
    long, short = heap_run(Heap(rounds=6)), heap_run(Heap(threads=(1,), rounds=6))
    assert len(analyse(Evidence(long)).rows) > MANY_ROWS >= len(analyse(Evidence(short)).rows)
    assert "heapwise report 4ea9" in terminal(figures(analyse(Evidence(long)), Evidence(long)))
    assert " sd " not in terminal(figures(analyse(Evidence(long)), Evidence(long)))
    assert " sd " in terminal(figures(analyse(Evidence(short)), Evidence(short)))
