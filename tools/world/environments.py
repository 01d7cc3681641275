"""The environments of programs that come from a language's registry, with pinned packages.

Each is made from the files of a folder in ``tests/world/registries``, which its client checks:
hashes of pip, npm, cargo and go; Maven's checksums.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REGISTRIES = ROOT / "tests" / "world" / "registries"
MADE = ROOT / "build" / "world"
STAMP = ".made-from"
NEVER_ENDS_S = 1800


class Environment(Enum):
    """One for each registry; the value is its folder."""

    PYPI = "pypi"
    NPM = "npm"
    CRATES = "crates"
    GO = "go"
    MAVEN = "maven"


SCRIPTS = {
    Environment.PYPI: """
        /usr/bin/python3 -m venv .
        bin/python -m pip install --quiet --disable-pip-version-check --progress-bar off \
          --require-hashes --requirement requirements.lock""",
    Environment.NPM: "npm ci --no-audit --no-fund",
    Environment.CRATES: "CARGO_TARGET_DIR=target cargo build --quiet --locked --release",
    Environment.GO: "GOFLAGS=-mod=readonly go build -o bin/ ./...",
    Environment.MAVEN: """
        mvn --quiet --batch-mode --strict-checksums dependency:copy-dependencies \
          -DoutputDirectory=jars
        javac -cp 'jars/*' -d classes *.java""",
}
"""Scripts of bash that make it, in a copy of its folder."""


def fingerprint(environment: Environment) -> str:
    """One hash of all files that it is made from, and of its script."""
    whole = hashlib.sha256(SCRIPTS[environment].encode())
    for file in sorted(path for path in folder_of(environment).rglob("*") if path.is_file()):
        whole.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def folder_of(environment: Environment) -> Path:
    """Where the files are that it is made from."""
    return REGISTRIES / environment.value


def is_made(environment: Environment) -> bool:
    """Whether it is there, made from the files as they are now."""
    try:
        made_from = (MADE / environment.value / STAMP).read_text()
    except OSError:
        return False
    return made_from == fingerprint(environment)


def make(environment: Environment) -> None:
    """Downloads and builds it. Raises CalledProcessError or TimeoutExpired if a client fails."""
    place = MADE / environment.value
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder_of(environment), place)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SCRIPTS[environment]],
        cwd=place,
        env=variables,
        check=True,
        timeout=NEVER_ENDS_S,
        stdin=subprocess.DEVNULL,
    )
    (place / STAMP).write_text(fingerprint(environment))
