"""What git says of the user's repository. Without git, or a repository, there is no answer.

git itself refuses a repository of another user, whose settings could make it run that user's
programs, unless ``safe.directory`` allows it. That rule is git's and the user's, so it is believed.
Versions before 2.35.2 do not have it. With them the owner of the repository is looked at here.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from heapwise.model import Revision

OWNER_IS_CHECKED_SINCE = (2, 35, 2)
"""The first version of git that refuses a repository of another user (CVE-2022-24765)."""

TIMEOUT_S = 5.0
"""A status that takes longer is not worth waiting for: then the sources count as dirty."""

ABOUT_A_REPOSITORY = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
"""Variables that name another repository than the one around a folder, as hooks have them."""


def git(folder: Path, *words: str, timeout_s: float = TIMEOUT_S) -> str | None:
    """What ``git WORDS`` prints in the folder; None if it fails, or if there is no git."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ABOUT_A_REPOSITORY
    }
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if done.returncode != 0:
        return None
    return done.stdout.decode(errors="backslashreplace").strip()


def repository_of(folder: Path) -> Path | None:
    """The top folder of the user's repository around ``folder``; None if there is none."""
    for place in (folder, *folder.parents):
        try:
            mark = (place / ".git").lstat()
        except OSError:
            continue
        if mark.st_uid not in _us() and version() < OWNER_IS_CHECKED_SINCE:
            return None
        top = git(folder, "rev-parse", "--show-toplevel")
        return Path(top) if top else None
    return None


def refuses(folder: Path) -> bool:
    """Whether git knows a repository around ``folder``, and does not use it because it is another
    user's."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git"):
            return repository_of(folder) is None
    return False


@cache
def version() -> tuple[int, ...]:
    """``(2, 39, 5)``; () without git."""
    said = git(Path("/"), "--version") or ""
    return tuple(map(int, re.findall(r"\d+", said)[:3]))


def revision_of(folders: Sequence[Path]) -> Revision | None:
    """The revision of the first folder that lies in a repository with a commit."""
    for folder in folders:
        top = repository_of(folder)
        said = top and git(top, "log", "-1", "--no-show-signature", "--format=%H %cI", "HEAD")
        if top and said:
            commit, _, committed = said.partition(" ")
            changes = git(top, "status", "--porcelain", "--untracked-files=no")
            return Revision(commit, committed, changes != "", _name_of(top), str(top))
    return None


def _name_of(top: Path) -> str:
    """The same for each clone of a repository, if it has an origin."""
    origin = git(top, "config", "--get", "remote.origin.url") or ""
    return re.sub(r"^(\w+://)[^/@]*@", r"\1", origin) or str(top)


def _us() -> set[int]:
    """As git has it: root may also use the files of the user who became root."""
    ids = {os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdigit():
        ids.add(int(os.environ["SUDO_UID"]))
    return ids
