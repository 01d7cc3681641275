"""Commits of the user's repository, built side by side in a folder of the cache and kept there."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from heapwise.catalog import git
from heapwise.catalog.built_tree import tree_digest
from heapwise.errors import Problem
from heapwise.model import BuildPlace
from heapwise.runner.commits.checkout import Checkout, cache
from heapwise.runner.commits.relinking import Relinking

BUILT, FAILED = "built", "failed"


@dataclass(frozen=True)
class Worktrees:
    """One for each commit that was asked for, in ``folder``."""

    checkout: Checkout
    folder: Path
    layouts: int = 0
    """How often the program of each commit is linked again; 0 for not at all."""

    def commits(self, good: str, bad: str) -> list[str]:
        """From ``good`` to ``bad``, both included, along first parents. Problems: E009, and E014 if
        there is no such way."""
        repository = self.checkout.repository
        first, last = (self.checkout.commit(word) for word in (good, bad))
        said = git(repository, "rev-list", "--reverse", "--first-parent", f"{first}..{last}") or ""
        between = said.split()
        parent = git(repository, "rev-parse", f"{between[0]}^1") if between else None
        if parent != first:
            raise Problem(
                "E014",
                f"no line of first parents leads from {good} to {bad}",
                do="name a --good that is an ancestor of --bad on its branch",
            )
        return [first, *between]

    def title(self, commit: str) -> str:
        """``1a2b3c4d5e the subject of its message``."""
        return (
            git(
                self.checkout.repository,
                "log",
                "-1",
                "--no-show-signature",
                "--format=%h %s",
                "--abbrev=10",
                commit,
            )
            or commit[:10]
        )

    def built(self, commit: str) -> Path | None:
        """The program of the commit, built if it is not yet; None if it cannot be built. Problem
        E059 if it cannot be linked again."""
        tree, mark = self.folder / commit, self.folder / f"{commit}.state"
        program = tree / self.checkout.program
        if mark.exists() and (mark.read_text() == FAILED or program.is_file()):
            return None if mark.read_text() == FAILED else program
        self.checkout.check_out(commit, tree)
        self.checkout.add_submodules(tree)
        relinking = Relinking(self._links(commit), program.name, self.layouts)
        if self.layouts:
            shutil.rmtree(relinking.folder, ignore_errors=True)
        environment = relinking.prepare(os.environ) if self.layouts else os.environ
        found = self.checkout.build(tree, self.log(commit), environment)
        if found and self.layouts:
            relinking.linked(found)
        # Taken now: a program may write into its tree when it runs.
        mark.write_text(f"{BUILT} {tree_digest(tree)}" if found else FAILED)
        return found

    def forget_failures(self) -> None:
        """What could not be built is tried again when it is asked for: the compiler may be there
        now, or room on the disk."""
        for mark in self.folder.glob("*.state"):
            if mark.read_text() == FAILED:
                mark.unlink()

    def place(self, commit: str) -> BuildPlace:
        """Where a built program and its layouts are. It is run where it was built: half of the
        layouts are those of its second label."""
        tree = self.folder / commit
        program = tree / self.checkout.program
        files = Relinking(self._links(commit), program.name, self.layouts).linked(program).files
        half = self.layouts // 2
        at = str(program)
        return BuildPlace(at, str(tree), str(tree), at, files[:half], files[half:])

    def _links(self, commit: str) -> Path:
        return self.folder / f"{commit}.links"

    def digest(self, commit: str) -> str:
        """A hash of all files of its tree, as the build left them; "" if that is not known."""
        try:
            return (self.folder / f"{commit}.state").read_text().removeprefix(BUILT).strip()
        except OSError:
            return ""

    def log(self, commit: str) -> Path:
        """What its build printed."""
        return self.folder / f"{commit}.log"

    def forget(self, commit: str) -> None:
        """Removes its tree; what was learned of it stays."""
        self.checkout.forget(self.folder / commit)
        shutil.rmtree(self._links(commit), ignore_errors=True)
        with suppress(OSError):
            (self.folder / f"{commit}.state").unlink()


def worktrees(checkout: Checkout, *question: str, layouts: int = 0) -> Worktrees:
    """The worktrees of one bisection: the same question has the same folder, so that it can go
    on. layouts: random ones of each program."""
    parts = (str(checkout.repository), str(checkout.inside), checkout.build_command, *question)
    if layouts:
        parts = (*parts, f"relink {layouts}")
    name = hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
    # The second label of the good end has layouts of its own.
    return Worktrees(checkout, cache() / "bisect" / name, 2 * layouts)
