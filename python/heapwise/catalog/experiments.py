"""The experiments that are installed: executables that describe themselves, and declarations."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from heapwise.catalog.program_experiments import read_program_experiment
from heapwise.catalog.published import with_published
from heapwise.errors import Problem
from heapwise.model import EXPERIMENT_ID, SCHEMA_VERSION, Experiment
from heapwise.natives import native_folder
from heapwise.wording.suggest import did_you_mean

DESCRIBE_TIMEOUT_S = 20.0
HASH_DIGITS = 12

SHELF = frozenset(
    {
        "cache",
        "concurrency",
        "containers",
        "cpu",
        "ipc",
        "language",
        "layout",
        "memory",
        "network",
        "syscalls",
    }
)
"""The families of the small experiments: one property of the machine or the language in a loop."""


@dataclass(frozen=True)
class Broken:
    """A file among the experiments that does not describe one."""

    path: Path
    reason: str


_described: dict[tuple[str, int], Experiment | Broken] = {}


def find_experiments() -> list[Experiment]:
    """All experiments that work, by id, with the published figures for them. Problem E052 without
    native parts."""
    return with_published([found for found in _survey() if isinstance(found, Experiment)])


def broken_experiments() -> list[Broken]:
    return [found for found in _survey() if isinstance(found, Broken)]


def choose_experiments(patterns: Sequence[str]) -> list[Experiment]:
    """Those whose id or family fits a pattern, in the catalogue's order; all without patterns.

    ``all`` is every one, ``shelf`` the small ones. Problem E001
    for a pattern that fits none, with the nearest id.
    """
    experiments = find_experiments()
    ids = [experiment.id for experiment in experiments]
    wanted: set[str] = set()
    for pattern in patterns or ["all"]:
        fitting = [e.id for e in experiments if _fits(e, pattern)]
        if not fitting:
            raise Problem("E001", _unknown(pattern, ids))
        wanted.update(fitting)
    return [experiment for experiment in experiments if experiment.id in wanted]


def describe(binary: Path) -> Experiment:
    """What an experiment that is not in the catalogue says of itself. Problem E052 if nothing."""
    found = _described_by(binary, _answer_once(binary))
    if isinstance(found, Broken):
        raise Problem("E052", f"{binary}: {found.reason}")
    return found


def _fits(experiment: Experiment, pattern: str) -> bool:
    if pattern == "shelf":
        return experiment.family in SHELF
    return (
        pattern in ("all", experiment.id)
        or fnmatchcase(experiment.id, pattern)
        or (pattern.removesuffix("/") == experiment.family)
    )


def _survey() -> list[Experiment | Broken]:
    folder = native_folder() / "experiments"
    binaries = sorted(
        path for path in folder.glob("*/*") if path.is_file() and os.access(path, os.X_OK)
    )
    declared = sorted(folder.glob("*/*.toml"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        answers = list(pool.map(_answer_once, binaries))
    # By one thread: msgspec crashes if two decode a type for the first time at once (0.22.0).
    return [*map(_described_by, binaries, answers), *map(_read, declared)]


def _read(path: Path) -> Experiment | Broken:
    """Read again each time: its subjects come and go with the runtimes that are installed."""
    try:
        return read_program_experiment(path)
    except (OSError, ValueError) as error:
        return Broken(path, f"it declares no experiment: {error}")


def _key(binary: Path) -> tuple[str, int]:
    return str(binary), binary.stat().st_mtime_ns


def _answer_once(binary: Path) -> bytes | Broken:
    """What the binary says of itself; b"" if that is known already."""
    if _key(binary) in _described:
        return b""
    try:
        answer = subprocess.run(
            [str(binary), "--describe"],
            capture_output=True,
            timeout=DESCRIBE_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Broken(binary, f"--describe failed: {error}")
    if answer.returncode != 0:
        return Broken(binary, f"--describe ended with {answer.returncode}")
    return answer.stdout


def _described_by(binary: Path, answer: bytes | Broken) -> Experiment | Broken:
    key = _key(binary)
    if key not in _described:
        _described[key] = answer if isinstance(answer, Broken) else _decoded(binary, answer)
    return _described[key]


def _decoded(binary: Path, answer: bytes) -> Experiment | Broken:
    try:
        experiment = msgspec.json.decode(answer, type=Experiment)
    except ValueError as error:
        return Broken(binary, f"--describe failed: {error}")
    if experiment.schema > SCHEMA_VERSION:
        return Broken(binary, f"it speaks schema {experiment.schema}, newer than this heapwise")
    if not re.fullmatch(EXPERIMENT_ID, experiment.id):
        return Broken(binary, f"its id '{experiment.id}' is not of the form family/name")
    return replace(experiment, binary=str(binary), program_hash=_hash_of(binary))


def _hash_of(binary: Path) -> str:
    """The program, and those of its name in the folders of other builds beside it."""
    found = hashlib.sha256()
    for path in (binary, *sorted(binary.parent.glob(f"*/{binary.name}"))):
        found.update(path.read_bytes())
    return found.hexdigest()[:HASH_DIGITS]


def _unknown(pattern: str, ids: list[str]) -> str:
    if set(pattern) & set("*?["):
        return f"no experiment matches '{pattern}'"
    return f"there is no experiment '{pattern}'{did_you_mean(pattern, ids)}"
