"""The files of a reproduced report: a table of all figures, pictures, and the page of the run."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from synthetic import pool_run

from heapwise.analysis import analyse
from heapwise.catalog import choose_published
from heapwise.cli.frame.tell.fewer_figures import refuse_fewer_figures, refuse_smaller_pages
from heapwise.cli.frame.tell.written_files import write_files
from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.figures.svg import plain_colours
from heapwise.model import Reproduction, Revision
from heapwise.report import (
    INDEX,
    View,
    build_page,
    folder_of,
    pages,
    results,
    with_new_row,
)
from heapwise.study.reproduce.charts import charts, svg
from heapwise.study.reproduce.documents import figures_csv
from heapwise.study.reproduce.raster import can_raster, raster
from heapwise.study.reproduce.reproduced import Reproduced, ReproducedTable, reproduce


@pytest.fixture(scope="module")
def found() -> Reproduced:
    evidence = Evidence(pool_run(rounds=6))
    return reproduce(evidence, choose_published("pool-vs-malloc"), analyse(evidence).trust)


def test_the_table_has_a_line_for_every_figure(found: Reproduced) -> None:
    lines = list(csv.DictReader(io.StringIO(figures_csv(found))))
    assert sum(bool(line["published"]) for line in lines) == 33
    ratio = next(line for line in lines if line["row"] == "bulk-alloc")
    assert float(ratio["low"]) < float(ratio["ours"]) < float(ratio["high"])
    assert float(ratio["published"]) == 11.015
    lost = next(line for line in lines if line["row"].startswith("interleaved"))
    assert lost["ours"] == ""
    assert "is not in this run" in lost["note"]


def test_every_picture_of_a_report_is_drawn(found: Reproduced) -> None:
    drawn = charts(found)
    assert [chart.name for chart in drawn] == ["time-per-operation", "headline-ratios"]
    for chart in drawn:
        text = plain_colours(svg(chart))
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "var(" not in text
    assert len(drawn[0].marks) == 30
    assert {mark.name for mark in drawn[1].marks} == {"bulk-alloc", "bulk-free", "interleaved"}


def test_lines_of_a_report_are_drawn_over_its_rows() -> None:
    evidence = Evidence(pool_run(rounds=6))
    report = choose_published("allocatorbench")
    chart = next(
        chart
        for chart in charts(reproduce(evidence, report, analyse(evidence).trust))
        if chart.name == "scaling_rl_small"
    )
    assert chart.slots == ["1", "2", "4", "8", "16"]
    assert {line.name for line in chart.lines} == {"System", "Baseline", "Sharded"}
    assert chart.lines[0].values == [13.7, 19.1, None, None, None]


@pytest.mark.skipif(not can_raster(), reason="matplotlib, which is optional, is not installed")
def test_a_picture_may_show_some_rows_of_a_table() -> None:
    report = choose_published("allocatorbench")
    evidence = Evidence(pool_run())
    shown = charts(reproduce(evidence, report, analyse(evidence).trust))
    names = [chart.name for chart in shown if chart.name.startswith("throughput_rl")]
    assert names == ["throughput_rl_small", "throughput_rl_medium"]
    assert all(chart.slots == ["1", "2", "4", "8", "16"] for chart in shown if chart.name in names)


def test_pictures_for_papers(found: Reproduced) -> None:
    for chart in charts(found):
        assert raster(chart, "png").startswith(b"\x89PNG")
        assert raster(chart, "pdf").startswith(b"%PDF")


def test_the_page_of_the_run_has_the_report() -> None:
    stored = pool_run(rounds=6)
    options = replace(stored.run.plan.options, reproduction=Reproduction("pool-vs-malloc", {}))
    run = replace(stored.run, plan=replace(stored.run.plan, options=options))
    page = build_page([View(Evidence(replace(stored, run=run)))])
    section = page[page.index('<section id="published-') :].partition("</section>")[0]
    for text in (
        "Pool allocator against malloc, one thread",
        "bulk, malloc, free",
        "44.463",
        "not possible here",
        "Intel Core i5-6600K at 3.50 GHz",
        "8.053",
    ):
        assert text in section, text
    unpublished = replace(
        run,
        plan=replace(
            run.plan,
            options=replace(options, reproduction=Reproduction("no-such-report", {})),
        ),
    )
    assert "published-" not in build_page([View(Evidence(replace(stored, run=unpublished)))])


def test_results_of_a_machine_are_a_page_for_each_report_and_an_index(found: Reproduced) -> None:
    view = View(Evidence(pool_run(rounds=6)))
    files = results([(view, found)])
    folder = folder_of(view.run.machine)
    page = files[f"{folder}/pool-vs-malloc.md"]
    machine = view.run.machine
    for text in (
        machine.cpu,
        machine.kernel,
        machine.libc,
        "Caches",
        "Memory",
        "Compiler and flags",
        "| bulk-alloc | 11.015 |",
        "pool_alloc",
        "44.463",
        "MSVC 19.51.36247.0",
        "| pool/bulk](pool-vs-malloc/pool/bulk.md)"[2:],
        "would be found 4 times in 5",
    ):
        assert text in page, text
    line = next(line for line in page.splitlines() if line.startswith("| bulk-alloc |"))
    assert re.search(r"\| [\d.]+ \([\d.]+ to [\d.]+\) \|$", line), line
    assert page.count(f"10 conclusions: {found.counts['confirmed']} confirmed") == 1
    for name in re.findall(r"\]\(([^)#]+\.(?:md|svg))\)", page):
        assert f"{folder}/{name}" in files, name
    assert (
        "[Pool allocator against malloc, one thread](pool-vs-malloc.md)"
        in (files[f"{folder}/README.md"])
    )
    assert not any(
        name.endswith("/README.md") and name.count("/") == 1
        for name in results([(view, found)], with_index=False)
    )


def test_a_single_page_renews_its_line_of_an_index(found: Reproduced) -> None:
    view = View(Evidence(pool_run(rounds=6)))
    index = results([(view, found)])[f"{folder_of(view.run.machine)}/{INDEX}"]
    other = "| [Another report](another.md) | 2026-01-01 | good | 1 | 2 | 3 | 4 |"
    lines = [
        line if "pool-vs-malloc.md" not in line else "| [old](pool-vs-malloc.md) | old |"
        for line in index.split("\n")
    ] + [other]
    assert with_new_row("\n".join(lines), view, found) == f"{index}\n{other}"
    assert with_new_row(other, view, found) == other


def test_a_page_names_the_command_that_made_it(found: Reproduced) -> None:
    view = View(Evidence(pool_run(rounds=6)))
    changed = replace(found, changes={"iterations": 1_000_000, "pinned": True})
    page = next(iter(results([(view, changed)], with_index=False).values()))
    assert "heapwise reproduce pool-vs-malloc --set iterations=1000000 --set pinned=true\n" in page
    page = next(iter(results([(view, found)], with_index=False).values()))
    assert "    heapwise reproduce pool-vs-malloc\n" in page


def test_a_page_says_which_experiment_is_noisy(found: Reproduced) -> None:
    view = View(Evidence(pool_run(rounds=6)))
    for difference, noisy in ((0.4, True), (0.01, False)):
        view.__dict__["result"] = replace(
            view.result,
            detectable=[replace(each, difference=difference) for each in view.result.detectable],
        )
        [page] = [
            text
            for name, text in results([(view, found)], with_index=False).items()
            if name.endswith("pool-vs-malloc.md")
        ]
        assert ("| noisy |" in page) is noisy


def test_figures_have_their_unit_where_the_rows_of_a_column_differ_in_it(found: Reproduced) -> None:
    first, *others = found.tables
    row, *rows = first.table.rows
    changed = replace(row, figures=tuple(replace(each, unit="parsecs") for each in row.figures))
    mixed = replace(first, table=replace(first.table, rows=(changed, *rows)))
    view = View(Evidence(pool_run(rounds=6)))

    def lines_of(tables: list[ReproducedTable]) -> list[str]:
        pages_made = results([(view, replace(found, tables=tables))], with_index=False)
        page = next(text for name, text in pages_made.items() if name.endswith("malloc.md"))
        return [line for line in page.splitlines() if line.startswith(f"| {row.title} |")]

    assert not any("parsecs" in line for line in lines_of([first, *others]))
    assert f" {row.figures[0].text} parsecs |" in lines_of([mixed, *others])[0]
    assert all("| : published" not in line for line in lines_of([mixed, *others]))


def test_the_page_of_an_experiment_says_how_it_was_compiled() -> None:
    view = View(Evidence(pool_run(rounds=6)))
    starts = {
        process.facts.start.compiler
        for process in view.evidence.stored.processes
        if process.facts.start
    }
    assert starts, "the synthetic run says how it was compiled"
    assert f"Compiled with {starts.pop()}" in pages(view)["pool/bulk.md"]


def test_processors_of_one_name_have_folders_of_their_own(found: Reproduced) -> None:
    machine = pool_run(rounds=6).run.machine
    kinds = [
        replace(machine, facts=structs.replace(machine.facts, processor=kind))
        for kind in ({"family": "25", "model": "1"}, {"family": "25", "model": "17"}, {})
    ]
    names = [folder_of(kind) for kind in kinds]
    assert "-family-25-model-1-" in names[0]
    assert "-family-25-model-17-" in names[1]
    assert "family" not in names[2]


def test_a_page_names_the_commit_that_was_measured(found: Reproduced) -> None:
    stored = pool_run(rounds=6)
    revision = Revision("0123456789abcdef", "2026-11-20T10:00:00+00:00", True, "heapwise", "/top")
    run = replace(stored.run, revision=revision)
    view = View(Evidence(replace(stored, run=run)))
    page = next(iter(results([(view, found)], with_index=False).values()))
    assert "Commit 0123456789ab of 2026-11-20, with changes that are not in it." in page


def test_a_page_names_the_build_and_the_kind_of_processor(found: Reproduced) -> None:
    stored = pool_run(rounds=6)
    facts = structs.replace(
        stored.run.machine.facts, processor={"family": "25", "model": "17", "stepping": "1"}
    )
    run = replace(
        stored.run,
        machine=replace(stored.run.machine, facts=facts),
        experiments=[replace(each, program_hash="0123456789ab") for each in stored.run.experiments],
    )
    view = View(Evidence(replace(stored, run=run)))
    page = pages(view)["pool/bulk.md"]
    assert "(family 25, model 17, stepping 1)" in page
    assert "Hash of the build 0123456789ab." in page
    report = next(iter(results([(view, found)], with_index=False).values()))
    assert "(family 25, model 17, stepping 1)" in report
    assert re.search(r"Hash of the build [0-9a-f]{12}\.", report)


def test_a_smaller_page_of_an_experiment_is_not_written(tmp_path: Path) -> None:
    files = pages(View(Evidence(pool_run(rounds=6))))
    write_files(files, tmp_path)
    refuse_smaller_pages(files, tmp_path)
    name = "pool/bulk.md"
    lines = files[name].splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if line.startswith("| malloc@glibc |"))
    with pytest.raises(Problem, match=r"pool/bulk.md \(\d+ of \d+ lines\)"):
        refuse_smaller_pages({name: "".join(lines[:at] + lines[at + 1 :])}, tmp_path)


def test_a_page_that_would_lose_figures_is_not_written(found: Reproduced, tmp_path: Path) -> None:
    view = View(Evidence(pool_run(rounds=6)))
    files = results([(view, found)], with_index=False)
    write_files(files, tmp_path)
    refuse_fewer_figures(files, tmp_path)
    [name] = [name for name in files if name.endswith("figures.csv")]
    lines = files[name].splitlines(keepends=True)
    emptied = [",".join(["t", "r", "c", "u", "1", "", "", "", "", "gone"]) + "\n"] * len(lines[1:])
    with pytest.raises(Problem, match="would lose"):
        refuse_fewer_figures({name: "".join([lines[0], *emptied])}, tmp_path)
