"""The section of the trees: kinds apart, memory beside time, published figures beside ours."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from synthetic_trees import Trees, trees_run

from heapwise.catalog import choose_published
from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.reproduced import show_reproduced
from heapwise.evidence import Evidence
from heapwise.report import View, build_page, pages, results
from heapwise.report.sections import trees
from heapwise.study.reproduce.reproduced import reproduce


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def row_of(html: str, subject: str) -> str:
    table = html[html.index("<table") :]
    return next(row for row in table.split("<tr") if f">{subject}" in row)


VIEW = View(Evidence(trees_run()))
"""Computes what it shows when it is first asked for it."""


def section(view: View) -> str:
    page = build_page([view])
    return page[page.index('<section id="trees-') :].partition("</section>")[0]


@cache
def usual_section() -> str:
    return section(VIEW)


def test_rows_stand_by_kind_with_both_machines_of_the_report() -> None:
    html = usual_section()
    kinds = re.findall(r'<tr class="kind"><th[^>]*>([^<]+)', html)
    assert kinds == ["explicit", "reference counting", "collectors", "pools and arenas"]
    ocaml = text(row_of(html, "ocaml"))
    assert "2.6" in ocaml
    assert "2.09 2.06 user 0.02 system" in ocaml
    assert "4.18 4.15 user 0.02 system" in ocaml
    dart = text(row_of(html, "dart"))
    assert "missing: apt-get install dart" in dart
    assert "4.71" in dart
    assert "What it does not show. other programs" in text(html)


def test_every_row_says_how_it_was_started_and_made() -> None:
    html = usual_section()
    remarks = html[html.index("What each row is") :]
    ocaml = text(row_of(remarks, "ocaml"))
    assert "tree 21 1.2.3 cc -O2 ocaml.c made up" in ocaml
    page = pages(VIEW)["trees/binary_trees.md"]
    assert "| ocaml | `tree 21` | 1.2.3 | `cc -O2 ocaml.c` | made up |" in page
    assert "| dart | missing: apt-get install dart |" in page
    assert "-control | `tree" not in page


def test_a_report_of_trees_says_both_commands_and_what_was_changed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stored = trees_run(Trees(depth=19))
    changes = {"trees/binary_trees": {"depth": 19}}
    report = choose_published("binary-trees")
    view = View(Evidence(stored))
    found = reproduce(view.evidence, report, view.result.trust, changes)
    [page] = [
        text
        for name, text in results([(view, found)], with_index=False).items()
        if name.endswith("binary-trees.md")
    ]
    assert "Measured with depth 19 instead of the report's." in page
    assert "| OCaml | `./btree-ml 21` | `tree 19` | 1.2.3 | `cc -O2 ocaml.c` | made up |" in page
    assert "| Dart garbage collector | `./btree-dart 21` | missing: apt-get install dart |" in page
    assert re.search(r"\| OCaml \| 2.09 \| 2.\d+ \([\d.]+ to [\d.]+\) \|", page)
    assert (
        show_reproduced(
            view.evidence, report, Console(False, False), str(tmp_path), changes=changes
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "Measured with depth 19 instead of the report's." in said
    assert (
        "  OCaml\n    report  ./btree-ml 21\n    here    tree 19\n"
        "            1.2.3; built with: cc -O2 ocaml.c\n"
    ) in said
    assert "    here    missing: apt-get install dart" in said


def test_published_figures_stand_only_beside_their_own_depth() -> None:
    html = section(View(Evidence(trees_run(Trees(depth=18)))))
    assert "2.09 2.06 user" not in text(html)
    assert "an M1, s" not in html


def test_a_row_that_failed_has_its_words_and_no_figures() -> None:
    view = View(Evidence(trees_run(Trees(lost={"ocaml": ("timed_out", "no end after 900 s")}))))
    html = section(view)
    ocaml = text(row_of(html, "ocaml"))
    assert "timed out 8 of 8: no end after 900 s" in ocaml
    assert "2.6" not in ocaml
    assert view.result.rows
    found = trees.picture(view)
    assert found is not None
    assert "Without a point: ocaml, dart." in found[1]
    assert "ocaml " not in found[0]


def test_a_row_whose_time_is_lost_says_so() -> None:
    stored = trees_run(None)
    samples = [
        replace(s, values={n: v for n, v in s.values.items() if n != "wall"})
        if s.subject == "ocaml"
        else s
        for s in stored.samples
    ]
    html = section(View(Evidence(replace(stored, samples=samples))))
    assert "no time was measured" in text(row_of(html, "ocaml"))


def test_a_budget_is_one_curve_for_each_runtime_in_the_order_of_its_points() -> None:
    html = section(View(Evidence(trees_run(Trees(budget=True)))))
    budget = html[html.index("<h3>trees/budget") :]
    assert budget.count("<polyline") == 2
    label = re.search(r'aria-label="([^"]*)"', budget)
    assert label is not None
    order = re.findall(r"(?:ocaml|tiny_gc)/[\d.]+", label.group(1))
    assert order == ["ocaml/0.5", "ocaml/1", "ocaml/2", "tiny_gc/0.5", "tiny_gc/1", "tiny_gc/2"]
    assert "glibc" in label.group(1)
