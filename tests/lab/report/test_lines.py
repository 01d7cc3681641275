"""Lines over the number of threads: one figure for each setting of what else varies."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from synthetic import POOL, pool_run

from heapwise.evidence import Evidence
from heapwise.model import Cell
from heapwise.report import View, build_page, pages
from heapwise.report.lines import MOST_SETTINGS, axis_of, by_setting
from heapwise.report.view import Group
from heapwise.store import StoredRun

THREADS = [1, 2, 4, 8, 16]


def used_in(stored: StoredRun, *uses: str) -> StoredRun:
    """The run with one more parameter: each round used the blocks in another way."""

    def setting(item: Any) -> Any:
        return replace(item, parameters=item.parameters | {"touch": uses[item.round % len(uses)]})

    return replace(
        stored,
        processes=[setting(p) for p in stored.processes],
        samples=[setting(s) for s in stored.samples],
    )


def lines_of(page: str) -> list[tuple[str, int]]:
    """Label and number of lines of each figure over the number of threads."""
    drawn = re.findall(r'<svg [^>]*class="figure scaling".*?</svg>', page, re.DOTALL)
    labels = [re.search(r'aria-label="([^"]*)"', each) for each in drawn]
    return [
        (label[1] if label else "", each.count("<polyline"))
        for label, each in zip(labels, drawn, strict=True)
    ]


def test_policies_and_malloc_are_lines_over_the_threads_for_each_use_of_the_blocks() -> None:
    both = View(Evidence(used_in(pool_run(2, threads=THREADS), "write", "all")))
    found = lines_of(build_page([both]))
    assert [(label.partition(".")[0], count) for label, count in found] == [
        ("alloc free over threads, touch write", len(POOL)),
        ("alloc free over threads, touch all", len(POOL)),
    ]


def test_the_picture_of_a_page_has_lines_for_the_first_use_of_the_blocks() -> None:
    both = View(Evidence(used_in(pool_run(2, threads=THREADS), "write", "all")))
    picture = pages(both)["pool/concurrent.svg"]
    assert picture.count("<polyline") == len(POOL)
    assert "touch write" in picture
    assert "touch all" not in picture


def test_one_parameter_alone_needs_no_name_of_another() -> None:
    found = lines_of(build_page([View(Evidence(pool_run(2, threads=THREADS)))]))
    assert [count for _, count in found] == [len(POOL)]
    assert "touch" not in found[0][0]


def test_lines_go_over_threads_or_the_only_number() -> None:
    experiment = pool_run(1).run.experiments[0]

    def group(**parameters: Any) -> Group:
        return Group(experiment, Cell(experiment.id, parameters, "free"), [])

    sizes = [group(size=n, kind="a") for n in (1, 2)]
    assert axis_of(sizes, ["size"]) == "size"
    assert axis_of(sizes, ["kind"]) is None
    assert axis_of(sizes, ["size", "kind"]) is None
    crowds = [group(threads=n, kind=kind) for n in (1, 2) for kind in "ab"]
    assert axis_of(crowds, ["threads", "kind"]) == "threads"
    assert [len(each) for each in by_setting(crowds, ["threads", "kind"], "threads").values()] == [
        2,
        2,
    ]
    many = [group(threads=1, kind=kind) for kind in range(MOST_SETTINGS + 1)]
    assert by_setting(many, ["threads", "kind"], "threads") == {}
