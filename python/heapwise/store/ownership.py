"""Whose files may steer us: only our own and root's, and only if nobody else can change them.

A settings file names libraries that are loaded into the user's programs, so a file that somebody
else left in a folder above would run that person's code with the user's rights.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import stat
from pathlib import Path

from heapwise.errors import Problem

ROOT = 0


def demand_own(path: Path, do: str) -> None:
    """Problem E005 if another user owns or can change ``path``, which must exist.

    A symbolic link is judged like what it points to: the owner of the link decides where it leads.
    """
    for status in (path.lstat(), path.stat()):
        if status.st_uid not in (ROOT, os.geteuid()):
            raise Problem(
                "E005",
                f"{path} belongs to {_user(status.st_uid)}, and you are {_user(os.geteuid())}",
                do=do,
            )
    if _others_can_change(path.stat()):
        raise Problem(
            "E005",
            f"{path} can be changed by other users",
            do=f"chmod go-w {shlex.quote(str(path))}",
        )


def is_own(path: Path) -> bool:
    """Whether ``demand_own`` would allow ``path``, which must exist."""
    try:
        demand_own(path, "")
    except Problem:
        return False
    return True


def _others_can_change(status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_private_group(status.st_gid)


def _is_private_group(group: int) -> bool:
    """A user's own group, named like the user and without other members, is nobody else's:
    distributions that give each user one let new files be written by it."""
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return (
        group == user.pw_gid
        and found.gr_name == user.pw_name
        and set(found.gr_mem) <= {user.pw_name}
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
