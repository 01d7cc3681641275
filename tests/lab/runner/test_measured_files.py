"""By what files are known: contents where they can be read, size and time where they cannot."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.runner.campaign import measured_files
from heapwise.runner.campaign.measured_files import Unchanged, read_states

STRANGER = 65534


def known(path: Path) -> Unchanged:
    return Unchanged(read_states({"program": str(path)}))


def test_the_same_contents_at_another_time_are_the_same(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("one")
    unchanged = known(program)
    os.utime(program, (1, 1))
    unchanged.demand()
    program.write_text("two")
    with pytest.raises(Problem, match="other contents") as caught:
        unchanged.demand()
    assert caught.value.id == "E032"


def test_of_a_large_file_both_ends_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_files, "WHOLE_BYTES", 100)
    monkeypatch.setattr(measured_files, "PART_BYTES", 10)
    program = tmp_path / "program"
    program.write_bytes(b"a" * 200)
    for place in (0, 199):
        unchanged = known(program)
        changed = bytearray(program.read_bytes())
        changed[place] = ord("b")
        program.write_bytes(changed)
        os.utime(program, (place, place))
        with pytest.raises(Problem):
            unchanged.demand()


@contextmanager
def without_rights() -> Iterator[None]:
    """Root reads everything, so it is nobody for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(STRANGER)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_program_that_may_not_be_read_is_known_by_its_time() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        program = Path(place) / "program"
        program.write_text("one")
        program.chmod(0o311)
        with without_rights():
            unchanged = known(program)
            assert unchanged.states["program"].sha256 == ""
            unchanged.demand()
        os.utime(program, (1, 1))
        with without_rights(), pytest.raises(Problem) as caught:
            unchanged.demand()
        assert caught.value.id == "E032"
