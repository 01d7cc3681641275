"""A program as an earlier commit has it: a git worktree, built with the user's command."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heapwise.builder.workshop import end
from heapwise.errors import Problem

LAST_LINES = 20
"""Of a build that failed."""


@contextmanager
def built_commit(
    revision: str, command: str, program: Path, environment: Mapping[str, str]
) -> Iterator[Path]:
    """The program at ``revision``, in a worktree that is gone when this is left.

    program: as the working tree has it. The command runs in both trees, from the folder that
    corresponds to the current one: only then are both builds of one kind. Problems: E003 outside of
    a git repository or for a program outside of it, E009 unknown revision, E057 failed build.
    """
    here = Path.cwd()
    top = Path(_git(here, "rev-parse", "--show-toplevel", do="call heapwise in a git repository"))
    commit = _commit(top, revision)
    place = _inside(top, program)
    build(command, here, environment)
    folder = _cache(environment) / f"{commit[:12]}-{os.getpid()}"
    _remove_left(top, folder.parent)
    try:
        _git(top, "worktree", "add", "--detach", "--quiet", str(folder), commit,
             do="see what git says")
        build(command, folder / here.resolve().relative_to(top), environment)
        built = folder / place
        if not built.is_file():
            raise Problem("E057", f"the build of {revision} left no {place}",
                          do="check that --build-command makes the program of --new")
        yield built
    finally:
        _remove(top, folder)


def build(command: str, folder: Path, environment: Mapping[str, str]) -> None:
    """By a shell, as the user would. Problem E057, with the last lines of what it printed."""
    if not folder.is_dir():
        raise Problem("E057", f"the commit has no folder {folder.name}")
    process = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        printed, _ = process.communicate()
    finally:
        end(process)
    if process.returncode:
        last = "\n".join(printed.decode(errors="replace").splitlines()[-LAST_LINES:])
        raise Problem("E057", f"--build-command ended with {process.returncode} in {folder}"
                      + (f":\n{last}\n" if last else " and printed nothing"))


def _commit(top: Path, revision: str) -> str:
    try:
        return _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options",
                    f"{revision}^{{commit}}")
    except Problem as error:
        raise Problem("E009", f"git knows no commit {revision}") from error


def _inside(top: Path, program: Path) -> Path:
    """Relative to the tree."""
    whole = program.absolute().parent.resolve() / program.name
    try:
        return whole.relative_to(top.resolve())
    except ValueError as error:
        raise Problem("E003", f"--new {program} is not in the working tree {top}",
                      why="The program of the base has the same place in its own tree.",
                      do="name a program that --build-command builds inside of the tree") from error


def _cache(environment: Mapping[str, str]) -> Path:
    home = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(home) / "heapwise" / "commits"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem("E056", f"{folder} cannot be made: {error.strerror}",
                      do="set XDG_CACHE_HOME to a folder that you may write") from error
    return folder


def _remove_left(top: Path, cache: Path) -> None:
    """What a process that was killed has left behind."""
    for folder in cache.iterdir():
        owner = folder.name.rpartition("-")[2]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            _remove(top, folder)


def _remove(top: Path, folder: Path) -> None:
    """Git forgets worktrees whose folder is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["git", "-C", str(top), "worktree", "prune"], capture_output=True, check=False)


def _git(folder: Path, *words: str, do: str = "") -> str:
    try:
        found = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True,
                               check=False, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise Problem("E054", "git is not installed", do="install git") from error
    if found.returncode:
        raise Problem("E003", f"git {words[0]}: {found.stderr.strip() or 'failed'}", do=do)
    return found.stdout.strip()
