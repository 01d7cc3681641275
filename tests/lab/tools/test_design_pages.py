"""The pages of the design: what their checker finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.design import FOLDER, MOST_WORDS, offences
from docs.tree import TextFile

ROOT = Path(__file__).resolve().parents[3]

PAGE = "# Design of it\n\n- [A choice](#a-choice)\n- [`more`](#more)\n\n## A choice\n\n## `more`\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "it.md").write_text(PAGE)
    return tmp_path


def found(root: Path, text: str, name: str = f"{FOLDER}it.md") -> list[str]:
    return list(offences(TextFile(root, name, text)))


def test_a_page_with_a_table_of_contents_is_fine(root: Path) -> None:
    assert found(root, PAGE) == []


@pytest.mark.parametrize(
    "text",
    [
        PAGE + "## Not listed\n",
        PAGE.replace("- [A choice](#a-choice)\n", ""),
        "# Design of it\n\n## A choice\n\n- [A choice](#a-choice)\n",
    ],
)
def test_a_table_of_contents_lists_all_sections(root: Path, text: str) -> None:
    assert len(found(root, text)) == 1


def test_a_page_is_short(root: Path) -> None:
    assert found(root, PAGE + "word " * (MOST_WORDS - 20)) == []
    assert len(found(root, PAGE + "word | " * MOST_WORDS)) == 1


@pytest.mark.parametrize(
    ("mention", "count"),
    [
        ("it.md#a-choice", 0),
        ("it.md#more), and on", 0),
        ('it.md, "A choice"', 0),
        ("it.md#no-choice", 1),
        ("other.md#a-choice", 1),
    ],
)
def test_a_mention_in_a_source_leads_to_a_heading(root: Path, mention: str, count: int) -> None:
    text = f"// Why: {FOLDER}{mention}\n"
    assert len(found(root, text, "src/heap/a.cpp")) == count


def test_architecture_and_the_navigation_of_the_site_list_each_page() -> None:
    pages = {path.stem for path in (ROOT / FOLDER).glob("*.md")}
    architecture = (ROOT / "docs/architecture.md").read_text()
    assert set(re.findall(r"^\| \[\w+\]\(design/(\w+)\.md\) \|", architecture, re.M)) == pages
    navigation = (ROOT / "tools/site/pages.py").read_text()
    [areas] = re.findall(r"^AREAS = \((.*?)\)$", navigation, re.M | re.S)
    assert set(re.findall(r'"(\w+)"', areas)) == pages
