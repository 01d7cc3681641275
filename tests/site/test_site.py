"""The site of the documents: it is built without a warning, complete, and needs no network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent.parent
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Elements for which a browser asks a host by itself, and the attribute that says where."""


class Page(HTMLParser):
    """links: targets that a reader follows. loaded: what the browser asks for. ids: anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if LOADED.get(tag, "") in values:
            self.loaded.append(values[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("doxygen"):
        pytest.skip("doxygen is not installed")
    output = tmp_path_factory.mktemp("site") / "html"
    command = [ROOT / "tools/build_site", output]
    # The usual theme draws the tree of all pages on each page: `make test-long` has it.
    theme = {} if os.environ.get("HEAPWISE_TIER") == "long" else {"HEAPWISE_SITE_THEME": "basic"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | theme
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return output


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_each_public_header_has_a_page(site: Path) -> None:
    include = ROOT / "include"
    headers = [path.relative_to(include) for path in include.rglob("*.h*")]
    headers = [path for path in headers if "detail" not in path.parts]
    assert headers
    assert [path for path in headers if not (site / "headers" / f"{path}.html").is_file()] == []


def test_the_page_of_a_header_says_what_its_contracts_say(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "headers/heapwise/arena.hpp.html").read_text())
    assert "one thread at a time" in " ".join(text.split())


def test_each_document_has_a_page(site: Path) -> None:
    documents = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    assert [path for path in documents if not (site / path.with_suffix(".html")).is_file()] == []


def test_the_first_page_leads_to_each_page_of_the_design(
    site: Path, pages: dict[Path, Page]
) -> None:
    first = pages[site / "index.html"]
    areas = {path.stem for path in (ROOT / "docs/design").glob("*.md")}
    assert areas
    assert areas - {Path(link).stem for link in first.links if "docs/design/" in link} == set()


def test_no_page_asks_another_host(site: Path, pages: dict[Path, Page]) -> None:
    remote = re.compile(r"(?:[a-z]+:)?//")
    asked = [
        (path.name, target)
        for path, page in pages.items()
        for target in page.loaded
        if remote.match(target)
    ]
    assert asked == []
    styles = re.compile(r"(?:@import\s+|url\()[\"']?(?:https?:)?//")
    assert [path.name for path in site.rglob("*.css") if styles.search(path.read_text())] == []


def test_no_link_is_dead(pages: dict[Path, Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = unquote(link).partition("#")
            file = (path.parent / target).resolve() if target else path
            known = pages.get(file)
            if not file.exists() or (anchor and known and anchor not in known.ids):
                dead.append((path.name, link))
    assert dead == []
