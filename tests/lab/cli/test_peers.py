"""Nothing is installed on a terminal without a question."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from heapwise.cli.frame.app import run as heapwise
from heapwise.cli.peers import _may_install


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "installs"), [("n\n", False), ("y\n", True), ("\n", True)])
def test_a_terminal_is_asked(answer: str, installs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", shown)
    assert _may_install(["golang-go", "ghc"]) is installs
    assert "apt-get install golang-go ghc" in shown.getvalue()


def test_nothing_is_asked_without_a_terminal_or_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert _may_install(["golang-go"])
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert _may_install([])


def test_a_folder_without_peers_is_named_as_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEAPWISE_PEERS", str(tmp_path))
    assert heapwise(["peers", "list"]) == 0
    assert "HEAPWISE_PEERS names a folder without peer files" in capsys.readouterr().out


def test_nothing_is_built_if_one_of_several_names_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert heapwise(["peers", "add", "snmalloc", "trees/go", "snmallok"]) == 2
    assert "no peer 'snmallok'" in capsys.readouterr().err
    assert [*tmp_path.rglob("*")] == []
