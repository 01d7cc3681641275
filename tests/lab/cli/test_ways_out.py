"""What an error tells the user to do is for the verb that was typed, and works when pasted."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        (("record", "--", "ls -a"), "heapwise record -- sh -c 'ls -a'"),
        (("compare", "--", "ls -a"), "heapwise compare 'ls -a'"),
        (("compare", "--", "ls | wc"), "heapwise compare --shell 'ls | wc'"),
        (("trace", "ls"), "heapwise record -o ls.hwt -- ls && heapwise trace ls.hwt"),
        (("advise", "--", "ls"), "heapwise record -o ls.hwt -- ls && heapwise advise ls.hwt"),
        (("trace", "lost.hwt"), "heapwise record -o lost.hwt -- PROGRAM"),
    ],
)
def test_the_way_out_is_for_the_verb(
    heapwise: Heapwise, words: tuple[str, ...], way_out: str
) -> None:
    done = heapwise(*words)
    assert done.returncode == 2
    assert f"do: {way_out} " in said(done) or f": {way_out} " in said(done)


def said(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stderr.split())
