"""Commits of the user's repository, built side by side in a folder of the cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from heapwise.catalog import git
from heapwise.errors import Problem

CHECKOUT_S = 600.0

BUILT, FAILED = "built", "failed"


@dataclass(frozen=True)
class Worktrees:
    """repository: its top folder. inside: where in it the user stands, and the build command with
    the user. program: as typed, relative to there unless it is absolute."""

    repository: Path
    inside: Path
    folder: Path
    build_command: str
    program: str

    def commits(self, good: str, bad: str) -> list[str]:
        """From ``good`` to ``bad``, both included, along first parents. Problem E003 if there is no
        such way."""
        ends = [git(self.repository, "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}", "--")
                if not word.startswith("-") else None for word in (good, bad)]
        for word, end in zip((good, bad), ends, strict=True):
            if end is None:
                raise Problem("E003", f"'{word}' is no commit of {self.repository}",
                              do="git log --oneline")
        first, last = (str(end).split()[0] for end in ends)
        said = git(self.repository, "rev-list", "--reverse", "--first-parent",
                   f"{first}..{last}") or ""
        between = said.split()
        parent = git(self.repository, "rev-parse", f"{between[0]}^1") if between else None
        if parent != first:
            raise Problem("E003", f"no line of first parents leads from {good} to {bad}",
                          do="name a --good that is an ancestor of --bad on its branch")
        return [first, *between]

    def title(self, commit: str) -> str:
        """``1a2b3c4d5e the subject of its message``."""
        return git(self.repository, "log", "-1", "--no-show-signature", "--format=%h %s",
                   "--abbrev=10", commit) or commit[:10]

    def built(self, commit: str) -> Path | None:
        """The program of the commit, built if it is not yet; None if it cannot be built."""
        tree, mark = self.folder / commit, self.folder / f"{commit}.state"
        here = tree / self.inside
        program = here / self.program
        if mark.exists() and (mark.read_text() == FAILED or program.is_file()):
            return program if mark.read_text() == BUILT else None
        self._check_out(commit, tree)
        with (self.folder / f"{commit}.log").open("wb") as log:
            try:
                code = subprocess.run(["sh", "-c", self.build_command], cwd=here, stdout=log,
                                      stdin=subprocess.DEVNULL, stderr=log, check=False).returncode
            except OSError as error:
                log.write(f"{error}\n".encode())
                code = -1
        done = code == 0 and program.is_file() and os.access(program, os.X_OK)
        mark.write_text(BUILT if done else FAILED)
        return program if done else None

    def log(self, commit: str) -> Path:
        """What its build printed."""
        return self.folder / f"{commit}.log"

    def forget(self, commit: str) -> None:
        """Removes its tree; what was learned of it stays."""
        git(self.repository, "worktree", "remove", "--force", str(self.folder / commit),
            timeout_s=CHECKOUT_S)
        with suppress(OSError):
            (self.folder / f"{commit}.state").unlink()

    def _check_out(self, commit: str, tree: Path) -> None:
        git(self.repository, "worktree", "prune")
        if tree.exists():
            git(self.repository, "worktree", "remove", "--force", str(tree), timeout_s=CHECKOUT_S)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Hooks are for the work of people, and one could change what is built.
        if git(self.repository, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach",
               "--force", str(tree), commit, timeout_s=CHECKOUT_S) is None:
            raise Problem("E056", f"git worktree cannot check {commit[:10]} out into {tree}",
                          do=f"git worktree add --detach {tree} {commit[:10]}")


def cache_folder(*parts: str) -> Path:
    """Of this bisection: the same question has the same folder, so that it can go on."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(configured) if configured.startswith("/") else Path.home() / ".cache"
    name = hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
    return cache / "heapwise" / "bisect" / name
