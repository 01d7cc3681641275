"""Runs the commands of a question, and remembers which runs they stored."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from workshop.questions.question import Question, Step, filled, steps

ROOT = Path(__file__).resolve().parents[2]
KEPT = "runs.json"
USABLE = (0, 1, 3, 4)
"""Exit codes of a command that stored a run: also of one that is incomplete or not trustworthy."""


class Asked(msgspec.Struct, frozen=True):
    """run: the id of the stored run; "" if the command stored none. said: why there is none."""

    step: Step
    run: str
    said: str = ""


def ask(question: Question, folder: Path, settings: Mapping[str, str]) -> list[Asked]:
    """Effects: prepares, then measures each step that the folder has no run of. ``folder/store``
    is the store. settings: values of the question that the user wants to be others."""
    folder = folder.absolute()
    values = {
        **question.values,
        **settings,
        "folder": str(folder),
        "python": sys.executable,
        "heapwise": f"{sys.executable} -m heapwise",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for words in question.prepare:
        subprocess.run([filled(word, values) for word in words], cwd=ROOT, check=True)
    known = {tuple(asked.step.words): asked for asked in kept_runs(folder) if asked.run}
    found: list[Asked] = []
    for step in steps(question, values):
        found.append(known.get(tuple(step.words)) or _measured(step, folder / "store"))
        (folder / KEPT).write_bytes(msgspec.json.encode(found))
    return found


def kept_runs(folder: Path) -> list[Asked]:
    """What was asked in this folder; nothing if nothing was."""
    file = folder / KEPT
    return msgspec.json.decode(file.read_bytes(), type=list[Asked]) if file.exists() else []


def _measured(step: Step, store: Path) -> Asked:
    before = _run_names(store)
    at = step.words.index("--") if "--" in step.words else len(step.words)
    options = ["--store", str(store), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "heapwise", *step.words[:at], *options, *step.words[at:]],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    fresh = _run_names(store) - before
    if done.returncode not in USABLE or not fresh:
        return Asked(step, "", f"exit code {done.returncode}: {' '.join(done.stderr.split())}")
    return Asked(step, fresh.pop())


def _run_names(store: Path) -> set[str]:
    return {path.name for path in store.glob("runs/*")}
