"""The self-test of a machine and build is found again, and no other one is taken for it."""

from __future__ import annotations

from pathlib import Path

from heapwise.model import Planted, SelfTest
from heapwise.store import read_self_test, write_self_test

RESULT = SelfTest(
    "2026-11-22T12:00:00+00:00",
    "0.1.0",
    "b" * 16,
    "a" * 16,
    33.0,
    [Planted("V8", "another output", "found", "")],
)


def test_it_is_found_again_and_private(tmp_path: Path) -> None:
    path = write_self_test(tmp_path / "store", RESULT)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_self_test(tmp_path / "store", "a" * 16, "b" * 16) == RESULT


def test_another_machine_or_build_has_no_self_test(tmp_path: Path) -> None:
    path = write_self_test(tmp_path, RESULT)
    assert read_self_test(tmp_path, "a" * 16, "c" * 16) is None
    assert read_self_test(tmp_path, "c" * 16, "b" * 16) is None
    path.rename(path.with_name(f"{'c' * 16}-{'b' * 16}.json"))
    assert read_self_test(tmp_path, "c" * 16, "b" * 16) is None


def test_a_damaged_self_test_counts_as_missing(tmp_path: Path) -> None:
    path = write_self_test(tmp_path, RESULT)
    for damage in (b"", b"{", b'{"created": 3}', b"\xff" * 99, b" " * (2 << 20)):
        path.write_bytes(damage)
        assert read_self_test(tmp_path, "a" * 16, "b" * 16) is None
    path.unlink()
    path.mkdir()
    assert read_self_test(tmp_path, "a" * 16, "b" * 16) is None
