"""Pages: what is frozen stays, and no sentence outlives its numbers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from synthetic import compare_run, pool_run
from synthetic_shelf import LAYOUT, Shelf, shelf_run

from heapwise.cli.frame.app import run as heapwise
from heapwise.document.terminal import terminal
from heapwise.evidence import Evidence
from heapwise.model import Revision
from heapwise.report import View, build_page, pages
from heapwise.report.pages import picture as picture_page
from heapwise.store import StoredRun, read_run
from heapwise.study.experiments.cell_tables import experiment_tables

DATA = Path(__file__).resolve().parents[2] / "data"
GOLDEN = DATA / "pages"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def page_files() -> dict[str, str]:
    return pages(View(Evidence(shelf_run())))


def test_frozen_pages_are_those_of_the_frozen_run() -> None:
    """Made again: heapwise export 749d --store tests/data --format pages -o tests/data/pages."""
    files = pages(View(Evidence(read_run(DATA, "749d"))))
    frozen = {
        str(p.relative_to(GOLDEN)): p.read_text(encoding="utf-8")
        for p in GOLDEN.rglob("*")
        if p.is_file()
    }
    assert files.keys() == frozen.keys()
    for name, text in files.items():
        assert text == frozen[name], name


def numbers(text: str) -> set[str]:
    return {found.rstrip(",").replace(",", "") for found in NUMBER.findall(text)}


def told_beforehand(stored: StoredRun) -> set[str]:
    """Numbers of the declarations, the plan, the machine and its compiler: they stay when samples
    change."""
    known = msgspec.to_builtins(stored.run)
    words = msgspec.json.encode(known).decode()
    bounds = {
        f"{x:.3g}"
        for e in stored.run.experiments
        for x in (v for o in e.expectations for v in (o.at_least, o.at_most or 0.0))
    }
    words += " ".join(
        f"{start.compiler} {start.flags}"
        for process in stored.processes
        if (start := process.facts.start)
    )
    rounds, kept = (
        stored.run.plan.max_rounds,
        {e.repeats - e.dropped_repeats for e in stored.run.experiments},
    )
    counts = {rounds, *kept, *(rounds * repeats for repeats in kept)}
    return numbers(words) | bounds | set(map(str, counts))


def drift(experiment: str, subject: str, cell: dict[str, Any], name: str, value: float) -> float:
    """Every figure another one: each subject and each cell by a factor of its own."""
    return value * (1.37 + 0.61 * len(subject) + 0.17 * len(str(cell)))


PROSE = ("4 times in 5", "95 %")
"""What the methods say, whatever was measured."""


def test_every_number_comes_from_the_samples_or_from_what_is_declared() -> None:
    one, other = shelf_run(), shelf_run(Shelf(bend=drift, noise=0.013, seed=9))
    first, second = pages(View(Evidence(one))), pages(View(Evidence(other)))
    allowed = told_beforehand(one)
    kept_counts = re.compile(
        r"the worst of \d+ cells: [^|]*|\d+ (?:not )?(?:met|measured)|"
        r"\d+ cannot tell here|refused \d+ of \d+|"
        r"\d+ A/A pairs? in \d+ cells?"
    )
    seen = 0
    for name in (n for n in first if n.endswith(".md")):
        lines = set(first[name].splitlines())
        for line in lines & set(second[name].splitlines()):
            bare = kept_counts.sub("", line)
            for phrase in PROSE:
                bare = bare.replace(phrase, "")
            assert numbers(bare) <= allowed, line
        seen += sum(bool(numbers(line)) for line in lines - set(second[name].splitlines()))
    assert seen > 12


def test_a_page_has_all_that_a_reader_asks_for(page_files: dict[str, str]) -> None:
    page = page_files["layout/aos_vs_soa.md"]
    for text in (
        LAYOUT.question,
        LAYOUT.isolates,
        LAYOUT.not_shown,
        "## Expected beforehand",
        "(aos_vs_soa.svg)",
        "| 1234.5 |",
        "Published: Small experiments; Apple Silicon, 8 cores.",
        "1.42x faster than aos.",
        "A/A pairs",
        "heapwise run layout/aos_vs_soa",
        "| not met | nothing is gained",
    ):
        assert text in page, text
    assert "[cache/levels](cache/levels.md)" in page_files["README.md"]
    assert "3 met, 1 not measured" in page_files["README.md"]


def test_the_index_names_the_commit_that_was_measured() -> None:
    stored = shelf_run()
    revision = Revision(commit="0123456789ab" * 3, committed="2026-01-02T10:00:00Z", dirty=False)
    stored = replace(stored, run=replace(stored.run, revision=revision))
    index = pages(View(Evidence(stored)))["README.md"]
    assert "Commit 0123456789ab of 2026-01-02." in index


def test_each_family_has_one_list_whatever_the_order_of_the_run() -> None:
    stored = shelf_run()
    first, other = stored.run.experiments
    second = replace(first, id="layout/second")
    behind = len(stored.processes)
    run = replace(stored.run, experiments=[first, other, second])
    processes = [
        replace(p, number=p.number + behind, experiment=second.id)
        for p in stored.processes
        if p.experiment == first.id
    ]
    samples = [
        replace(s, process=s.process + behind, experiment=second.id)
        for s in stored.samples
        if s.experiment == first.id
    ]
    stored = replace(
        stored, run=run, processes=stored.processes + processes, samples=stored.samples + samples
    )
    index = pages(View(Evidence(stored)))["README.md"]
    headings = [line for line in index.splitlines() if line.startswith("## ")]
    assert headings == ["## cache", "## layout"]
    assert re.findall(r"\| \[([^]]+)\]", index) == [other.id, first.id, second.id]


def test_pictures_stand_alone(page_files: dict[str, str]) -> None:
    pictures = [text for name, text in page_files.items() if name.endswith(".svg")]
    assert len(pictures) == 2
    for text in pictures:
        assert "var(" not in text
        assert "inherit" not in text
        assert ElementTree.fromstring(text).get("aria-label")


def test_a_picture_is_of_cells_with_figures_whatever_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing was measured in the only cell that would fit."""
    stored = shelf_run()
    first = stored.samples[0]
    lost = {s.process for s in stored.samples if s.setup == first.setup}
    monkeypatch.setattr(picture_page, "MOST_CELLS", 1)
    files = pages(
        View(
            Evidence(replace(stored, samples=[s for s in stored.samples if s.process not in lost]))
        )
    )
    assert f"{first.experiment}.svg" in files


def test_a_quantity_that_nothing_declares_is_left_out() -> None:
    stored = shelf_run()
    more = replace(
        stored, samples=[replace(s, values=s.values | {"odd": 1.0}) for s in stored.samples]
    )
    assert pages(View(Evidence(more))).keys() == pages(View(Evidence(stored))).keys()
    assert build_page([View(Evidence(more))])


def test_a_comparison_has_no_pages() -> None:
    assert pages(View(Evidence(compare_run()))) == {}


def test_the_verb_writes_a_folder_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--store", str(DATA), "--format", "pages"]
    assert heapwise(["export", "749d", *place, "-o", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "README.md").exists()
    assert "Saved" in capsys.readouterr().err
    assert heapwise(["export", "749d", *place]) == 2
    assert "--output FOLDER" in capsys.readouterr().err
    assert heapwise(["export", "c9d3", *place, "-o", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()


def test_a_note_of_a_row_with_figures_is_told_everywhere() -> None:
    """In the terminal, on a page with many cells and in HTML; once for the cells it is about."""
    view = View(Evidence(pool_run(rounds=3, threads=[1, 2, 3, 4, 5, 6, 7])))
    view.__dict__["result"] = replace(
        view.result,
        rows=[
            replace(row, note="weak everywhere")
            if row.subject == "mutex"
            else replace(row, note="weak here")
            if row.parameters.get("threads") == 2 and row.subject == "lock_free"
            else row
            for row in view.result.rows
        ],
    )
    said = terminal(experiment_tables(view.result))
    assert said.count("\n  mutex: weak everywhere") == 9
    assert said.count("\n  lock_free: weak here") == 1
    page = pages(view)["pool/concurrent.md"]
    assert "medians, with their 95 % intervals" in page
    assert page.count("weak") == 2
    assert "\n- mutex: weak everywhere\n" in page
    assert "\n- lock_free, threads 2: weak here\n" in page
    assert "weak here" in build_page([view])


def test_a_row_of_one_sample_has_no_deviation() -> None:
    """As in a smoke run, which has one repeat in one round."""
    view = View(Evidence(pool_run(rounds=6)))
    rows = [replace(row, n=1, stddev=None) for row in view.result.rows]
    view.__dict__["result"] = replace(view.result, rows=rows)
    assert "| malloc@glibc | 1 |" in pages(view)["pool/bulk.md"]
    assert "malloc@glibc     1 " in terminal(experiment_tables(view.result))
    assert build_page([view])
