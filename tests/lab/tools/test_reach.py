"""A document that no link leads to is found, and there is none."""

from __future__ import annotations

from pathlib import Path

from docs.reach import offences
from docs.tree import TextFile, text_files

ROOT = Path(__file__).resolve().parents[3]


def unreached(**pages: str) -> list[str]:
    """Names have ``__`` for a slash."""
    files = [
        TextFile(Path(), f"{name.replace('__', '/')}.md", text) for name, text in pages.items()
    ]
    return [line.partition(":")[0] for line in offences(files)]


def test_a_page_is_reached_through_other_pages() -> None:
    assert unreached(
        README="[a](docs/a.md#x)",
        docs__a="[b](how/b.md) [c](../docs/how/c.md)",
        docs__how__b="",
        docs__how__c="",
        docs__how__d="",
        CHANGELOG="",
    ) == ["docs/how/d.md"]


def test_pages_that_only_know_each_other_are_not_reached() -> None:
    assert unreached(README="`[a](docs/a.md)`", docs__a="[b](b.md)", docs__b="[a](a.md)") == [
        "docs/a.md",
        "docs/b.md",
    ]


def test_a_folder_leads_to_its_readme_alone() -> None:
    assert unreached(
        README="[r](docs/results) [d](docs/other/)",
        docs__results__README="",
        docs__results__x="",
        docs__other__a="",
    ) == ["docs/other/a.md", "docs/results/x.md"]


def test_each_document_is_reached() -> None:
    assert list(offences(text_files(ROOT))) == []
