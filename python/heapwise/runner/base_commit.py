"""The base of a gate: the program as an earlier commit has it, beside the working tree's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from heapwise.errors import Problem
from heapwise.runner.checkout import Checkout, cache

LAST_LINES = 20
"""Of a build that failed."""


@contextmanager
def built_commit(
    revision: str, command: str, program: Path, environment: Mapping[str, str]
) -> Iterator[Path]:
    """The program at ``revision``, in a worktree that is gone when this is left.

    program: as the working tree has it. The command runs in both trees, from the folder that
    corresponds to the current one: only then are both builds of one kind. Problems: those of
    ``Checkout``, E057 failed build.
    """
    checkout = Checkout.of(program, command)
    commit = checkout.commit(revision)
    trees = cache() / "commits"
    _remove_left(checkout, trees)
    tree = trees / f"{commit[:12]}-{os.getpid()}"
    log = trees / f"{tree.name}.log"
    try:
        checkout.check_out(commit, tree)
        _build(checkout, checkout.repository, log, environment)
        yield _build(checkout, tree, log, environment)
    finally:
        checkout.forget(tree)
        with suppress(OSError):
            log.unlink()


def _build(checkout: Checkout, tree: Path, log: Path, environment: Mapping[str, str]) -> Path:
    """Problem E057, with the last lines of what the command printed."""
    program = checkout.build(tree, log, environment)
    if program is None:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
        raise Problem("E057", f"--build-command failed in {tree / checkout.inside}:\n{last}\n")
    return program


def _remove_left(checkout: Checkout, trees: Path) -> None:
    """What a process that was killed has left behind."""
    for path in trees.iterdir() if trees.is_dir() else ():
        owner = path.stem.rpartition("-")[2]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            checkout.forget(path)
            path.unlink(missing_ok=True)
