"""What a shell proposes: runs of the store, experiments, allocators, reports; never an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from synthetic import pool_run

from heapwise.cli.frame.ask import completion
from heapwise.store import RunWriter

pytestmark = pytest.mark.usefixtures("built_native")


Proposed = Callable[..., list[str]]


@pytest.fixture
def proposed(heapwise: Any) -> Proposed:
    """What bash is given for the last of some words."""

    def ask(words: str, **environment: str) -> list[str]:
        done = heapwise(
            env={
                "_HEAPWISE_COMPLETE": "complete_bash",
                "COMP_WORDS": words,
                "COMP_CWORD": str(words.count(" ")),
            }
            | environment
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        found: list[str] = done.stdout.split()
        return found

    return ask


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("heapwise repr", "reproduce"),
        ("heapwise run pool/b", "pool/bulk"),
        ("heapwise list poo", "pool"),
        ("heapwise reproduce pool-", "pool-vs-malloc"),
        ("heapwise explain E00", "E003"),
        ("heapwise explain pool/b", "pool/bulk"),
        ("heapwise peers check gl", "glibc"),
        ("heapwise peers add snm", "snmalloc"),
        ("heapwise peers add mimalloc2 trees/g", "trees/go"),
    ],
)
def test_words_are_proposed(proposed: Proposed, words: str, expected: str) -> None:
    assert expected in proposed(words)


def test_runs_of_the_store_are_proposed(proposed: Proposed, tmp_path: Path) -> None:
    run = pool_run().run
    RunWriter.create(tmp_path, run).close()
    assert run.id in proposed(f"heapwise report {run.id[:2]}", HEAPWISE_STORE=str(tmp_path))
    assert proposed("heapwise export la", HEAPWISE_STORE=str(tmp_path)) == ["last"]


def test_a_store_that_cannot_be_read_gives_no_proposal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "file"
    store.write_text("not a folder")
    monkeypatch.setenv("HEAPWISE_STORE", str(store))
    assert completion.runs("7f") == []
