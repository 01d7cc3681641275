"""Each rule of the language finds what it forbids, and leaves alone what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.language import offences
from docs.tree import TextFile


def found(text: str, name: str = "docs/page.md") -> list[str]:
    return list(offences(TextFile(Path(), name, text)))


@pytest.mark.parametrize("text", [
    "A pointer that is no block is refused.",
    "// Fake stacks are no stacks.",
    "It stays with whoever frees it.",
    "That which is free goes back.",
    "A run shall look like this.",
    "Runs so many rounds.",
    "Left out for want of rounds.",
    "The row confesses it.",
    "A lock that is held by who waits.",
    "0 for what is not a block.",
    "Stop after so long: 90s.",
    "It prints \"so much\".",
    "Ten repetitions in each process.",
])
def test_a_planted_sentence_is_found(text: str) -> None:
    [line] = found(f"# Title\n\n{text}\n")
    assert line.startswith('docs/page.md:3: "')
    assert "write " in line


@pytest.mark.parametrize("text", [
    "There is no interval.",
    "If there\n// is no interval, say so.",
    "It is no longer here and no faster than that.",
    "There are so many mappings that the kernel refuses.",
    "Whatever the size is.",
    "A user by whom it was asked.",
    "It takes so long that nobody waits.",
    "What is not measured is left out.",
])
def test_plain_english_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_text_of_others_is_left_alone() -> None:
    assert found("The licensee shall ...", "LICENSE") == []
