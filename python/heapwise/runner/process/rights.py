"""Whether a process started a program that has more rights than its user."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from heapwise.model import Process


def may_be_watched(process: Process) -> bool:
    """Whether the calls of a process like this one can be watched. A user who is not root cannot
    watch a program that gains rights: while it is watched it would not gain them.

    The loader preloads nothing into a program that gains rights, so the probe was silent in it.
    """
    probe = process.facts.probe
    if os.geteuid() == 0 or probe is None:
        return True
    return not any(map(gains_rights, {each.target for each in probe.lost}))


def gains_rights(program: str) -> bool:
    """By the mode of its file, or by capabilities of the file."""
    try:
        mode = Path(program).stat().st_mode
    except OSError:
        return False
    try:
        has_capabilities = bool(os.getxattr(program, "security.capability"))
    except OSError:
        has_capabilities = False
    return bool(mode & (stat.S_ISUID | stat.S_ISGID)) or has_capabilities
