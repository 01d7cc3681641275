"""Other recorders, which run beside ours: Debian's heaptrack, and memray in a Python of its own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

LOCK = Path(__file__).with_name("requirements.lock")
ENVIRONMENT = Path("build/recording-env")
PYTHON = "/usr/bin/python3"
"""What programs/python3 runs: memray is to measure the same interpreter."""

NAMES = ("heaptrack", "memray")


@dataclass(frozen=True)
class Rivals:
    """Paths, None of a tool that is left out. memray_python: the Python that has memray."""

    heaptrack: str | None = None
    memray_python: Path | None = None


def find_rivals(
    without: Collection[str], lock: Path = LOCK, environment: Path = ENVIRONMENT
) -> Rivals:
    """Installs memray from the lock, if it is not there. Exits with a reason if a tool that is
    wanted is missing."""
    return Rivals(
        None if "heaptrack" in without else _heaptrack(),
        None if "memray" in without else _memray_python(lock, environment),
    )


def _heaptrack() -> str:
    if found := shutil.which("heaptrack"):
        return found
    raise SystemExit(
        "error: heaptrack is not installed\n"
        "   do: tools/setup --tests, or leave it out with --without heaptrack"
    )


def _memray_python(lock: Path, environment: Path) -> Path:
    python, stamp = environment / "bin" / "python", environment / "stamp"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python.absolute()
    try:
        subprocess.run([PYTHON, "-m", "venv", "--clear", str(environment)], check=True)
        subprocess.run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--require-hashes",
                "--disable-pip-version-check",
                "--requirement",
                str(lock),
            ],
            check=True,
        )
    except (subprocess.CalledProcessError, OSError) as error:
        raise SystemExit(
            f"error: memray could not be installed: {error}\n"
            "   do: check the network, or leave it out with --without memray"
        ) from error
    stamp.write_text(wanted)
    return python.absolute()
