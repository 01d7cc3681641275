"""Real programs do the same under our malloc as under the host's: same output, same exit status."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from rows import Row, all_rows

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIER = os.environ.get("HEAPWISE_TIER", "test")
ROOT = Path(__file__).resolve().parents[3]
ROWS = [row for row in all_rows() if row.tier == TIER]


def run_row(row: Row, preload: Any, folder: Path) -> Any:
    """Runs the script in an empty folder, which has the same path in every run."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    return preload.run_seen(
        folder,
        "/bin/bash",
        "-euo",
        "pipefail",
        row.script,
        cwd=work,
        timeout_s=row.limit_s,
        PROJECT_ROOT=str(ROOT),
        HOME=str(work),
    )


def digest(done: Any) -> str:
    return hashlib.sha256(done.out).hexdigest()


def first_difference(one: bytes, other: bytes) -> str:
    """Where two outputs part, for a reader who has to find out why."""
    lines = zip(one.splitlines(), other.splitlines(), strict=False)
    for number, (left, right) in enumerate(lines, 1):
        if left != right:
            return f"line {number}: {left[:200]!r} became {right[:200]!r}"
    return f"{len(one)} bytes became {len(other)}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_program_does_not_notice(row: Row, heap: Any, host: Any, tmp_path: Path) -> None:
    absent = [name for name in row.needs if shutil.which(name, path=SEARCH_PATH) is None]
    if absent:
        reason = f"{row.what}: {', '.join(absent)} not installed; {row.get}"
        (pytest.fail if row.tier == "test" else pytest.skip)(reason)
    expected = run_row(row, host, tmp_path)
    assert expected.status == 0, f"under the host's malloc: {expected.err[-2000:]}"
    done = run_row(row, heap, tmp_path)
    assert done.status == expected.status, f"{done.out[-500:]!r}\n{done.err[-3000:]}"
    assert digest(done) == digest(expected), first_difference(expected.out, done.out)
    assert_given_our_malloc(row, done, heap)


def assert_given_our_malloc(row: Row, done: Any, heap: Any) -> None:
    """Every process that spoke has our malloc, and those that the row is about spoke."""
    providers = done.providers_of_malloc()
    silent = [name for name in row.proof if name not in providers]
    assert not silent, f"not seen at work: {silent}; seen: {sorted(providers)}"
    if heap.library:
        others = {exe: paths for exe, paths in providers.items() if paths != {str(heap.library)}}
        assert not others, "malloc came from somewhere else"


def test_rows_have_heads() -> None:
    """A row that cannot be read, or belongs to no tier, would never run."""
    assert ROWS
    assert {row.tier for row in all_rows()} <= {"test", "long"}


BOUND = (
    "bash",
    "git",
    "cmake",
    "ninja",
    "python3",
    "sqlite3",
    "redis-cli",
    "node",
    "perl",
    "lua5.4",
    "ruby",
)
BINDING = re.compile(r"binding file (\S+) .*? to (\S+) .*?normal symbol `malloc'")


@pytest.mark.parametrize("program", BOUND)
def test_the_loader_binds_malloc_to_us(program: str, heap: Any, tmp_path: Path) -> None:
    """In the program and in every library that it brings, even if another one offers a malloc."""
    path = shutil.which(program, path=SEARCH_PATH)
    if path is None:
        pytest.fail(f"{program} is not installed")
    log = tmp_path / "log"
    ends = ("-v",) if program == "lua5.4" else ("--version",)
    done = heap.run(path, *ends, LD_DEBUG="bindings", LD_BIND_NOW="1", LD_DEBUG_OUTPUT=str(log))
    assert done.status == 0, done.err
    text = "".join(file.read_text() for file in tmp_path.glob("log.*"))
    # A program that is not position independent and takes malloc's address gives it an address of
    # its own, from where it goes on to the one that it was bound to.
    providers = {provider for _, provider in BINDING.findall(text)} - {
        str(Path(path).resolve()),
        path,
    }
    assert len(providers) == 1, providers
    if heap.library:
        assert providers == {str(heap.library)}
