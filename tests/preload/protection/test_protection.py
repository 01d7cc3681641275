"""The profiles that check every call end a program with a planted fault, and say what it was."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

PLANTS = Path(__file__).parent / "plants.c"
SAMPLES = Path(__file__).parent / "samples.c"
LEGAL = Path(__file__).parent / "legal.cpp"
PROFILES = ["guarded", "hardened"]
KINDS = {
    "interior": "inside-block", "double": "double-free", "foreign": "foreign",
    "realloc": "double-free", "double-large": "double-free", "interior-large": "inside-block",
}
ONLY_HARDENED = {"overrun": "overrun", "written": "written-after-free"}
PLACES = ["main", "thread", "child", "handler", "closed"]


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest, host: Any) -> Any:
    return of_profile(host, request.param)


def of_profile(host: Any, name: str) -> Any:
    return replace(host, library=host.native / f"libheapwise-malloc-{name}.so")


def planted(profile: Any, program: Path, kind: str, place: str, report: Path) -> dict[str, Any]:
    """The report of the fault. What the program said of it is checked here."""
    done = profile.run(program, kind, place, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == -signal.SIGABRT, (kind, place, done)
    address, thread = done.out.split()
    found: dict[str, Any] = json.loads(report.read_text())
    if kind != "foreign":
        assert found["address"] == address.decode()
    assert found["found"]["thread"] == int(thread)
    assert found["found"]["stack"]
    if place != "closed":
        assert found["kind"] in done.err
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_fault_is_reported(
    profile: Any, compiled: Any, tmp_path: Path, kind: str, place: str
) -> None:
    found = planted(profile, compiled(PLANTS), kind, place, tmp_path / "report")
    assert found["kind"] == KINDS[kind]
    assert found["profile"] in profile.name


@pytest.mark.parametrize("kind", ONLY_HARDENED)
def test_hardened_finds_bytes_that_were_overwritten(
    host: Any, compiled: Any, tmp_path: Path, kind: str
) -> None:
    hardened = of_profile(host, "hardened")
    found = planted(hardened, compiled(PLANTS), kind, "main", tmp_path / "report")
    assert found["kind"] == ONLY_HARDENED[kind]


@pytest.mark.parametrize(("kind", "expected"), [
    ("behind", "out-of-bounds"), ("freed", "use-after-free"), ("twice", "double-free")])
def test_a_sampled_block_is_reported_with_its_stacks(
    profile: Any, compiled: Any, tmp_path: Path, kind: str, expected: str
) -> None:
    report = tmp_path / "report"
    done = profile.run(compiled(SAMPLES), kind, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY="1")
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == expected
    assert found["allocated"]["stack"]
    assert ("freed" in found) == (kind != "behind")


def test_legal_calls_are_not_reported(profile: Any, compiled: Any) -> None:
    done = profile.run(compiled(LEGAL, "-fsized-deallocation"))
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("kind", ["sized", "aligned"])
def test_a_delete_with_another_size_is_reported(
    profile: Any, compiled: Any, tmp_path: Path, kind: str
) -> None:
    report = tmp_path / "report"
    done = profile.run(compiled(LEGAL, "-fsized-deallocation"), kind,
                       HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == -signal.SIGABRT, done
    assert json.loads(report.read_text())["kind"] == "wrong-size"
