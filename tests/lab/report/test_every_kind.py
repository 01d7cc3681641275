"""The texts about a run of each kind, in each form, change only if somebody means to change them.

HEAPWISE_WRITE_GOLDEN=1 writes the golden files again. Review their difference with the change.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from every_kind import EVERY_KIND, attacks
from synthetic import compare_run

from heapwise.analysis import analyse
from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.watched_campaign import show
from heapwise.evidence import Evidence
from heapwise.model import Plan, Run
from heapwise.report import View, build_page, pages
from heapwise.report.formats import find_formats
from heapwise.store import RunWriter, StoredRun
from heapwise.study.attacks.price import price_text

GOLDEN = Path(__file__).resolve().parents[2] / "data" / "told"
SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
DATA = re.compile(r"[A-Za-z0-9+/=]{200,}")
"""Of a page: the samples, compressed."""

AROUND = re.compile(r"<style>.*?</style>|<script>.*?</script>", re.DOTALL)


def expect(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("HEAPWISE_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEAPWISE_STORE", str(tmp_path))
    return tmp_path


def stored_in(store: Path, stored: StoredRun) -> Path:
    with RunWriter.create(store, stored.run) as writer:
        for process in stored.processes:
            writer.append(process)
        for sample in stored.samples:
            writer.append(sample)
        return writer.folder


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_on_a_terminal(kind: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = show(stored_in(store, EVERY_KIND[kind]()), Console()).code
    said = capsys.readouterr()
    text = f"{said.out}--- stderr\n{said.err}--- exit code {code}\n"
    expect(f"{kind}.txt", text.replace(str(store), "STORE"))


def digest(found: re.Match[str]) -> str:
    return f"<svg {hashlib.sha256(found.group().encode()).hexdigest()[:16]}>"


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_as_a_page(kind: str) -> None:
    """Of a figure only a hash is kept."""
    page = build_page([View(Evidence(EVERY_KIND[kind]()))])
    expect(
        f"{kind}.html",
        SVG.sub(digest, DATA.sub("DATA", AROUND.sub("", page))),
    )


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_as_markdown(kind: str) -> None:
    expect(f"{kind}.markdown", find_formats()["markdown"].write(View(Evidence(EVERY_KIND[kind]()))))


@pytest.mark.parametrize("kind", ["experiments", "programs", "trees"])
def test_as_pages(kind: str) -> None:
    files = pages(View(Evidence(EVERY_KIND[kind]())))
    text = "".join(f"=== {name}\n{files[name]}\n" for name in sorted(files))
    expect(f"{kind}.pages.markdown", SVG.sub(digest, text))


def test_the_price_of_protection(store: Path) -> None:
    """A comparison beside a run of attacks, on a terminal and in a page."""
    stored_in(store, attacks())
    stored = compare_run()
    run = replace(stored.run, id="5a12")
    compared = replace(stored, run=replace(run, plan=_protected(run)))
    text = price_text(analyse(Evidence(compared)), store)
    expect("protection.txt", text + "\n")
    page = build_page([View(Evidence(compared)), View(Evidence(attacks()))])
    section = page[page.index('<section id="protection-') :].partition("</section>")[0]
    expect("protection.html", SVG.sub(digest, section) + "\n")


def _protected(run: Run) -> Plan:
    subjects = [
        replace(s, peer=replace(s.peer, protection="hardened"))
        if s.name == "mimalloc" and s.peer
        else s
        for s in run.plan.subjects
    ]
    return replace(run.plan, subjects=subjects)
