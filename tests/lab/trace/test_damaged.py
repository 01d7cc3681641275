"""A trace that is cut off or damaged is read as far as it is whole, and never crashes a reader."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from heapwise.errors import Problem
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents

Record = Callable[..., Path]

CASES = 150
ZSTANDARD = (0xFD2F_B528).to_bytes(4, "little")
"""Compressed data begin with it (RFC 8878)."""


@pytest.fixture
def whole(known: Path, record: Record) -> bytes:
    return record(known, "threads", "40").read_bytes()


def read(path: Path) -> tuple[int, str]:
    """Events that were read, and the damage; the problem's id where it is not a trace at all."""
    try:
        with open_trace(path) as opened:
            return read_contents(opened).events, opened.damage
    except Problem as problem:
        return 0, problem.id


def test_the_whole_file_has_no_damage(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whole.hwt"
    path.write_bytes(whole)
    events, damage = read(path)
    assert events > 800
    assert not damage


def test_cut_off_anywhere_it_says_so(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.hwt"
    for length in Random(7).sample(range(len(whole)), CASES):
        path.write_bytes(whole[:length])
        _, damage = read(path)
        assert damage == "E062" or damage.startswith(("the file ends", "frame"))


def test_a_changed_byte_is_noticed_or_changes_nothing(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "changed.hwt"
    path.write_bytes(whole)
    good = read(path)
    random = Random(11)
    for _ in range(CASES):
        place = random.randrange(16, len(whole))
        changed = bytearray(whole)
        changed[place] ^= 1 << random.randrange(8)
        path.write_bytes(changed)
        events, damage = read(path)
        assert damage or (events, damage) == good


def test_no_changed_head_of_compressed_data_takes_all_memory(whole: bytes, tmp_path: Path) -> None:
    """The head says how much memory the data needs when they are whole again."""
    path = tmp_path / "changed.hwt"
    path.write_bytes(whole)
    good = read(path)
    head_bytes = 14  # at most
    for found in re.finditer(re.escape(ZSTANDARD), whole, re.DOTALL):
        for bit in range(8 * head_bytes):
            changed = bytearray(whole)
            changed[found.start() + bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            events, damage = read(path)
            assert damage or (events, damage) == good


@pytest.mark.parametrize("content", [b"", b"HWTRACE\n", b"not a trace at all, but long enough"])
def test_a_file_that_is_not_a_trace_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "none.hwt"
    path.write_bytes(content)
    with pytest.raises(Problem, match=r"is not a trace"):
        open_trace(path)


def test_a_reader_without_memory_is_told_as_a_problem(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whole.hwt"
    path.write_bytes(whole)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with open_trace(path) as opened:
        assert opened.frames, "they are read before the limit"
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 18, before[1]))
        try:
            with pytest.raises(Problem, match="heapwise-contents ended with") as raised:
                read_contents(opened)
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)
    assert raised.value.id == "E052"


def test_a_newer_version_is_refused(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "newer.hwt"
    path.write_bytes(whole[:8] + (99).to_bytes(4, "little") + whole[12:])
    with pytest.raises(Problem, match="version 99"):
        open_trace(path)
