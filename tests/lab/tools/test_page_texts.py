"""Texts of a page are renewed without its figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import pool_run

from heapwise.evidence import Evidence
from heapwise.report import View, pages
from page_texts import with_texts


def test_texts_are_renewed_and_figures_stay() -> None:
    view = View(Evidence(pool_run(rounds=6)))
    page = pages(view)["pool/bulk.md"]
    [experiment] = [each for each in view.run.experiments if each.id == "pool/bulk"]
    assert with_texts(page, experiment) == page
    changed = replace(
        experiment, question="Why?", isolates="All of it.", not_shown=r"A \\1 and no more."
    )
    new = with_texts(page, changed)
    assert "**Why?**" in new
    assert "## What it isolates\n\nAll of it.\n\n## " in new
    assert f"{changed.not_shown}\n" in new
    kept = [line for line in page.splitlines() if line.startswith("|")]
    assert [line for line in new.splitlines() if line.startswith("|")] == kept
    assert new.count("\n## ") == page.count("\n## ")


def test_a_page_without_a_part_is_refused() -> None:
    view = View(Evidence(pool_run(rounds=6)))
    with pytest.raises(ValueError, match="has no part"):
        with_texts("# pool/bulk\n", view.run.experiments[0])
