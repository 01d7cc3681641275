"""A commit of the user's repository, checked out into a git worktree and built there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from heapwise.catalog import git, refuses, repository_of
from heapwise.errors import Problem
from heapwise.wording.suggest import did_you_mean

CHECKOUT_S = 600.0

SUBMODULE_MODE = "160000"
"""The mode that a submodule has in a tree of git. It is a commit of another repository."""


@dataclass(frozen=True)
class Checkout:
    """repository: its top folder. inside: where in it the user stands, and the build command with
    the user. program: where in it the build command leaves the program."""

    repository: Path
    inside: Path
    program: Path
    build_command: str

    @classmethod
    def of(cls, program: Path, build_command: str) -> Checkout:
        """From the working folder. program: as typed. Problems: E014 outside of a repository of the
        user, and for a program outside of it."""
        here = Path.cwd().resolve()
        top = repository_of(here)
        if top is None and refuses(here):
            raise Problem(
                "E014",
                f"git does not use the repository around {here}",
                why="It belongs to another user, or it is damaged.",
                do="git status there says why; if you trust that user, git config "
                f"--global --add safe.directory {here}",
            )
        if top is None:
            raise Problem(
                "E014",
                f"{here} is in no git repository of yours",
                do="cd to the repository of the program",
            )
        top = top.resolve()
        whole = program.absolute().parent.resolve() / program.name
        if not whole.is_relative_to(top):
            raise Problem(
                "E014",
                f"{program} is not in the working tree {top}",
                why="The program of each commit has the same place in a tree of its own.",
                do="name a program that --build-command builds inside of the tree",
            )
        return cls(top, here.relative_to(top), whole.relative_to(top), build_command)

    def commit(self, revision: str) -> str:
        """Its hash. Problem E009 if git knows none."""
        found = git(
            self.repository,
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
        )
        if not found:
            what = f"'{revision}' is not a commit of {self.repository}"
            raise Problem("E009", f"{what}{self._similar(revision)}")
        return found

    def _similar(self, revision: str) -> str:
        """The branch or tag that was probably meant, as an end of a sentence."""
        words = ("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
        names = ["HEAD", *(git(self.repository, *words) or "").splitlines()]
        name = re.sub(r"[~^@:].*", "", revision)
        return "" if name in names else did_you_mean(name, names)

    def precedes_all(self, revision: str) -> bool:
        """Whether it is before the first commit, as ``HEAD~1`` is of a new repository. A shallow
        clone does not tell."""
        first = re.match(r"[^~^]+(?=[~^]+[0-9~^]*$)", revision)
        known = [
            bool(git(self.repository, "rev-parse", "--verify", "--quiet", f"{each}^{{commit}}"))
            for each in (first[0] if first else revision, revision)
        ]
        shallow = git(self.repository, "rev-parse", "--is-shallow-repository") != "false"
        return first is not None and known == [True, False] and not shallow

    def check_out(self, commit: str, tree: Path) -> None:
        """Into a folder that may not be there. Problem E056."""
        self.forget(tree)
        try:
            tree.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise Problem(
                "E056",
                f"{tree.parent} cannot be made: {error.strerror}",
                do="set XDG_CACHE_HOME to a folder that you may write",
            ) from error
        if not _check_out(self.repository, commit, tree):
            raise Problem(
                "E056",
                f"git worktree cannot check {commit[:10]} out into {tree}",
                do=f"git worktree add --detach {tree} {commit[:10]}",
            )

    def add_submodules(self, tree: Path) -> None:
        """The submodules of the commit that is in ``tree``, as far as the user's repository has or
        had them.

        Their commits come from the repositories that git keeps for the user's tree, so nothing is
        fetched. A submodule without its commit there stays empty: the build command may fetch it.
        """
        _add_submodules(self.repository, tree)

    def copy_working_tree(self, tree: Path) -> None:
        """The user's commit with all changes, those that are not committed included. Files that git
        ignores are not there: the build command makes them, as in any other tree. Problem E056."""
        self.check_out("HEAD", tree)
        try:
            _copy_changes(self.repository, tree)
        except OSError as error:
            raise Problem(
                "E056", f"a change of the working tree cannot be copied to {tree}: {error}"
            ) from error

    def build(self, tree: Path, log: Path, environment: Mapping[str, str]) -> Path | None:
        """The program that the build command made; None if it failed. log: what it printed."""
        with log.open("wb") as output:
            try:
                process = subprocess.Popen(
                    ["/bin/sh", "-c", self.build_command],
                    cwd=tree / self.inside,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                output.write(f"{error}\n".encode())
                return None
            try:
                code = process.wait()
            finally:
                _end(process)
            program = tree / self.program
            if code:
                output.write(f"It ended with {code}.\n".encode())
                return None
            if not (program.is_file() and os.access(program, os.X_OK)):
                output.write(f"It left no program {self.program}.\n".encode())
                return None
        return program

    def forget(self, tree: Path) -> None:
        """Git forgets worktrees whose folder is gone."""
        shutil.rmtree(tree, ignore_errors=True)
        _prune(self.repository)


def _check_out(repository: Path, commit: str, tree: Path) -> bool:
    """A worktree of a repository; False if git refuses it."""
    said = git(
        repository,
        *_of_kept(repository),
        # Hooks are for the work of people, and one could change what is built.
        "-c",
        "core.hooksPath=/dev/null",
        "worktree",
        "add",
        "--detach",
        "--force",
        str(tree),
        commit,
        timeout_s=CHECKOUT_S,
    )
    return said is not None


def _add_submodules(repository: Path, tree: Path) -> None:
    for name, commit in _submodules(tree):
        source = _source(repository, tree, name)
        if source and _check_out(source, commit, tree / name):
            _add_submodules(source, tree / name)


def _source(repository: Path, tree: Path, path: str) -> Path | None:
    """The repository of the submodule at ``path`` of a tree: where the user has it, or the one that
    git kept by its name when the submodule moved or went. None if there is none."""
    if (repository / path / ".git").exists():
        return repository / path
    words = ("config", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    for line in (git(tree, *words) or "").splitlines():
        key, _, value = line.partition(" ")
        if value == path:
            name = key.removeprefix("submodule.").removesuffix(".path")
            kept = _kept_modules(repository) / name
            return kept if (kept / "objects").is_dir() else None
    return None


def _of_kept(repository: Path) -> tuple[str, ...]:
    """Options of git. A repository that git keeps of a submodule that is gone names a folder that
    is not there."""
    is_kept = (repository / "objects").is_dir() and not (repository / ".git").exists()
    return ("--git-dir=.", "--work-tree=.") if is_kept else ()


def _kept_modules(repository: Path) -> Path:
    words = (*_of_kept(repository), "rev-parse", "--git-common-dir")
    common = git(repository, *words) or ".git"
    return repository / common / "modules"


def _kept_repositories(folder: Path) -> Iterator[Path]:
    """Those of submodules below a folder of them: their names may have slashes."""
    for each in sorted(folder.iterdir()) if folder.is_dir() else ():
        is_one = (each / "objects").is_dir()
        if is_one:
            yield each
        yield from _kept_repositories(each / "modules" if is_one else each)


def _submodules(tree: Path) -> list[tuple[str, str]]:
    """Path and commit of each submodule of the commit that is checked out."""
    found = []
    for line in _names(tree, "ls-tree", "-r", "HEAD"):
        about, _, name = line.partition("\t")
        mode, _, commit = about.split()[:3]
        if mode == SUBMODULE_MODE:
            found.append((name, commit))
    return found


def _copy_changes(repository: Path, tree: Path) -> None:
    """What the user has changed since the commit that is checked out in ``tree``. Submodules are
    as the user has them: at the user's commit, with the user's changes."""
    changed = _names(repository, "diff", "--name-only", "--ignore-submodules=dirty", "HEAD")
    new = _names(repository, "ls-files", "--others", "--exclude-standard")
    modules = {name for name, _ in _submodules(repository)}
    for name in (*changed, *new):
        if name not in modules:
            _copy(repository / name, tree / name)
    for name in sorted(modules):
        source = repository / name
        if (source / ".git").exists() and _check_out(source, "HEAD", tree / name):
            _copy_changes(source, tree / name)


def _prune(repository: Path) -> None:
    git(repository, "worktree", "prune")
    for kept in _kept_repositories(_kept_modules(repository)):
        git(kept, *_of_kept(kept), "worktree", "prune")
    for name, _ in _submodules(repository):
        if (repository / name / ".git").exists():
            _prune(repository / name)


def _names(folder: Path, *words: str) -> list[str]:
    """The names of files, as git lists them."""
    said = git(folder, *words, "-z", timeout_s=CHECKOUT_S) or ""
    return [name for name in said.split("\0") if name]


def _copy(source: Path, target: Path) -> None:
    """With its times and its mode. A file that is gone is gone in the copy."""
    if target.is_symlink() or target.is_file():
        target.unlink()
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
    elif source.is_dir() and not target.exists():
        shutil.copytree(source, target, symlinks=True)


def cache() -> Path:
    """The cache of this tool: trees and what is learned of them."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(configured) if configured.startswith("/") else Path.home() / ".cache"
    return home / "heapwise"


def _end(process: subprocess.Popen[bytes]) -> None:
    """With everything that it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
