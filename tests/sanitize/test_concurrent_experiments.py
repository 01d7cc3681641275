"""The experiments that start threads or processes, at smoke size, built with a sanitizer.

``HEAPWISE_NATIVE`` names the build: ``build/tsan/native`` or ``build/asan/native``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECLARED = re.compile(r"^// build: .*\bwith_sanitizers\b", re.MULTILINE)
NATIVE = Path(os.environ.get("HEAPWISE_NATIVE", ROOT / "build" / "tsan" / "native"))
TIME_LIMIT_S = 120

OF_OTHERS = ("absl", "boost", "concurrentqueue", "readerwriterqueue", "tbb")
"""Subjects of libraries that come compiled, where the thread sanitizer cannot see who waits for
whom (oneTBB), or that read what another thread writes and throw it away (Boost.Lockfree)."""

STOP_AT_ONCE = {
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66",
    "ASAN_OPTIONS": "halt_on_error=1:exitcode=66",
    "UBSAN_OPTIONS": "halt_on_error=1:exitcode=66:print_stacktrace=1",
}


def described(binary: Path) -> dict[str, Any]:
    done = subprocess.run([str(binary), "--describe"], capture_output=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cases() -> list[Any]:
    found = []
    for name in experiments():
        binary = NATIVE / "experiments" / name
        if not binary.exists():
            found.append(pytest.param(binary, "", [], id=name))
            continue
        experiment = described(binary)
        cells: list[list[str]] = [[]]
        for parameter in experiment["parameters"]:
            cells += [["--set", f"{parameter['name']}={value}"] for value in parameter["smoke"][1:]]
        found += [
            pytest.param(binary, subject["name"], cells, id=f"{experiment['id']}:{subject['name']}")
            for subject in experiment["subjects"]
            if subject["available"]
        ]
    return found


def experiments() -> list[str]:
    """Those that say that they start threads or processes."""
    return [
        f"{source.parent.name}/{source.stem}"
        for source in sorted((ROOT / "experiments").glob("*/*.cpp"))
        if DECLARED.search(source.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("binary", "subject", "cells"), cases())
def test_nothing_is_reported(binary: Path, subject: str, cells: list[list[str]]) -> None:
    assert binary.exists(), f"not built: cmake --build {NATIVE.parent}"
    for cell in cells:
        done = subprocess.run(
            [str(binary), "--subject", subject, "--smoke", *cell],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            env={**os.environ, **STOP_AT_ONCE},
        )
        if "ThreadSanitizer: data race" in done.stderr and subject.startswith(OF_OTHERS):
            pytest.skip("in a library of others")
        assert "Sanitizer" not in done.stderr, done.stderr[:6000]
        assert done.returncode == 0, f"{cell}\n{done.stderr}{done.stdout}"[-6000:]
        start, *_, last = [json.loads(line) for line in done.stdout.splitlines()]
        assert "-fsanitize=" in start["flags"]
        assert last["kind"] in ("end", "refused")
