"""The pages of the manual: one of each verb, which groff reads without a warning."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import typer

from heapwise.cli.frame.app import build_app
from manual import Page, pages
from manual.page import escaped

PAGES = {page.name: page for page in pages()}


def shown(page: Page) -> str:
    """As a terminal of 80 columns shows it, without overstriking."""
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-P-c", "-P-b", "-P-u"],
        input=page.text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_every_verb_has_a_page() -> None:
    verbs = typer.main.get_command(build_app()).commands  # type: ignore[attr-defined]
    assert {f"heapwise-{verb}" for verb in verbs} <= set(PAGES)
    assert "heapwise-peers-add" in PAGES


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_shown(name: str) -> None:
    text = shown(PAGES[name])
    assert "SYNOPSIS" in text
    assert name.replace("-", " ", 1).split("-")[0] in text


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_options_and_exit_codes_are_as_they_are_typed() -> None:
    text = shown(PAGES["heapwise-gate"])
    assert "--base-commit REV" in text
    assert "a metric of the new build or run regressed" in " ".join(text.split())


def test_a_line_is_not_taken_for_a_request() -> None:
    assert escaped(".bmf.json -x") == "\\&.bmf.json \\-x"
    assert escaped("C:\\n") == "C:\\en"
