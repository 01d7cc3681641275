"""The section of the trees: kinds apart, memory beside time, the seed's machines beside ours."""

from __future__ import annotations

import re
from dataclasses import replace

from synthetic_trees import Trees, trees_run

from heapwise.evidence import Evidence
from heapwise.report import View, build_page
from heapwise.report.sections import seeds, trees


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def row_of(html: str, subject: str) -> str:
    table = html[html.index("<table"):]
    return next(row for row in table.split("<tr") if f">{subject}" in row)


def section(shape: Trees | None = None) -> str:
    page = build_page([View(Evidence(trees_run(shape)))])
    return page[page.index('<section id="trees-'):].partition("</section>")[0]


def test_rows_stand_by_kind_with_both_machines_of_the_seed() -> None:
    html = section()
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


def test_the_seed_s_figures_stand_only_beside_its_own_depth() -> None:
    assert "2.09 2.06 user" not in text(section(Trees(depth=18)))
    assert "seed, M1" not in section(Trees(depth=18))


def test_a_row_that_failed_has_its_words_and_no_figures() -> None:
    html = section(Trees(lost={"ocaml": ("timed_out", "no end after 900 s")}))
    ocaml = text(row_of(html, "ocaml"))
    assert "timed out 8 of 8: no end after 900 s" in ocaml
    assert "2.6" not in ocaml
    view = View(Evidence(trees_run(Trees(lost={"ocaml": ("timed_out", "no end after 900 s")}))))
    assert view.result.rows
    found = trees.picture(view)
    assert found is not None
    assert "Without a point: ocaml, dart." in found[1]
    assert "ocaml " not in found[0]


def test_a_row_whose_time_is_lost_says_so() -> None:
    stored = trees_run(None)
    samples = [replace(s, values={n: v for n, v in s.values.items() if n != "wall"})
               if s.subject == "ocaml" else s for s in stored.samples]
    page = build_page([View(Evidence(replace(stored, samples=samples)))])
    html = page[page.index('<section id="trees-'):].partition("</section>")[0]
    assert "no time was measured" in text(row_of(html, "ocaml"))


def test_a_budget_is_one_curve_for_each_runtime_in_the_order_of_its_points() -> None:
    html = section(Trees(budget=True))
    budget = html[html.index("<h3>trees/budget"):]
    assert budget.count("<polyline") == 2
    label = re.search(r'aria-label="([^"]*)"', budget)
    assert label is not None
    order = re.findall(r"(?:ocaml|tiny_gc)/[\d.]+", label.group(1))
    assert order == ["ocaml/0.5", "ocaml/1", "ocaml/2", "tiny_gc/0.5", "tiny_gc/1", "tiny_gc/2"]
    assert "glibc" in label.group(1)


def test_the_general_table_of_seeds_leaves_them_to_their_own() -> None:
    found = seeds.build(View(Evidence(trees_run())))
    assert found is not None
    assert found["lines"] == []
    assert found["goals"]
