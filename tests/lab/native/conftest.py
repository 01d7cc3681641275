"""The native binaries under test, and ways to start them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


def native_folder() -> Path | None:
    """``HEAPWISE_NATIVE``, else the newest of the repository's own builds."""
    named = os.environ.get("HEAPWISE_NATIVE")
    if named:
        return Path(named)
    built = [p.parent for p in ROOT.glob("build/*/native/heapwise-launch")]
    return max(built, key=lambda p: (p / "heapwise-launch").stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def native() -> Path:
    folder = native_folder()
    if folder is None or not (folder / "heapwise-launch").exists():
        pytest.fail("no native build: cmake --preset release && cmake --build --preset release")
    return folder


@pytest.fixture(scope="session")
def toy(native: Path) -> str:
    return str(native / "heapwise-toy")


Launch = Callable[..., dict[str, Any]]


@pytest.fixture
def launch(native: Path, tmp_path: Path) -> Launch:
    """Starts the launcher; returns its result. ``options`` come before ``--``; the program gets
    exactly the entries of ``environment``, or inherits that of the test."""

    def start(
        *program: str, options: list[str] | None = None, environment: list[bytes] | None = None
    ) -> dict[str, Any]:
        result = tmp_path / "result.json"
        with os.fdopen(os.memfd_create("environment"), "w+b") as file:
            file.write(b"".join(entry + b"\0" for entry in environment or []))
            file.seek(0)
            handed = [] if environment is None else ["--environment", str(file.fileno())]
            command = [
                str(native / "heapwise-launch"),
                "--result",
                str(result),
                "--timeout",
                "60",
                *handed,
                *(options or []),
                "--",
                *program,
            ]
            subprocess.run(
                command, check=True, timeout=120, pass_fds=[file.fileno()] if handed else []
            )
        found: dict[str, Any] = json.loads(result.read_text())
        return found

    return start
