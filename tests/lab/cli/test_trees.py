"""The messages about program experiments before and after they run."""

from __future__ import annotations

import pytest
from synthetic_trees import Trees, trees_run

from heapwise.analysis import analyse
from heapwise.cli.frame.tell.announce import missing_rows
from heapwise.document.terminal import terminal
from heapwise.evidence import Evidence
from heapwise.model import SubjectSpec
from heapwise.report.formats import find_formats
from heapwise.report.view import View
from heapwise.runner import Prepared
from heapwise.runner.executors.measurement import experiment_executor
from heapwise.study.round_costs import estimate_s
from heapwise.study.trees.program_tables import program_tables


def test_a_step_of_depth_doubles_the_estimate_whatever_smaller_runs_took() -> None:
    run = trees_run().run

    def estimate(depth: int) -> float:
        from dataclasses import replace

        plan = replace(run.plan, parameters={"depth": [depth]})
        return estimate_s(
            Prepared(plan, run.experiments, {}, experiment_executor), {"trees/binary_trees": 0.1}
        )

    assert estimate(21) > 60 * len(run.plan.subjects) / 15
    assert estimate(22) == pytest.approx(2 * estimate(21), rel=0.05)


def test_missing_rows_are_told_by_the_way_to_get_them() -> None:
    experiment = trees_run(Trees(missing=("dart", "nim"))).run.experiments[0]
    experiment.subjects.append(
        SubjectSpec("dart/big", "program", "", available=False, reason="apt-get install dart")
    )
    assert missing_rows([experiment]) == {
        "apt-get install dart": ["dart"],
        "apt-get install nim": ["nim"],
    }


def test_the_table_has_memory_beside_time_and_words_where_there_is_nothing() -> None:
    stored = trees_run(Trees(lost={"ocaml": ("crashed", "crashed (SIGSEGV)")}))
    text = terminal(program_tables(stored.run.experiments[0], analyse(Evidence(stored))))
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert lines["malloc@heapwise"].split()[1:5:3] == ["2.00", "130"]
    assert "crashed (SIGSEGV) 8 of 8" in lines["ocaml"]
    assert "missing: apt-get install dart" in lines["dart"]


def test_the_form_of_the_published_report() -> None:
    stored = trees_run(Trees(missing=("dart",), lost={"boehm_1": ("timed_out", "no end")}))
    text = find_formats()["binary-trees"].write(View(Evidence(stored)))
    block = text[text.index("(ocaml)") :].splitlines()
    assert block[1] == "tree 21"
    assert block[2].split()[1::2] == ["real", "user", "sys", "MiB"]
    assert float(block[2].split()[0]) == pytest.approx(2.6, abs=0.05)
    assert "timed out 8 of 8: no end" in text
    assert "missing: apt-get install dart" in text
    assert "control" not in text
