"""Nothing is installed on a terminal without a question."""

from __future__ import annotations

import io
import sys

import pytest

from heapwise.cli.peers import _may_install


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "installs"), [("n\n", False), ("y\n", True), ("\n", True)])
def test_a_terminal_is_asked(
    answer: str, installs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
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
