"""The control groups of this process, and how much memory their limits leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwise.machine.kernel_files import fields, read_number, read_text

CGROUPS = Path("/sys/fs/cgroup")
NAMES = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class _Files:
    """The names of files of a group that say how much memory it may have, and has."""

    limits: Sequence[str]
    used: str
    inactive: str
    """The line of memory.stat with the file pages that the kernel takes away first."""


VERSION_1 = _Files(["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file")
VERSION_2 = _Files(["memory.max", "memory.high"], "memory.current", "inactive_file")


def own_group() -> Path:
    """The folder of our control group, version 2."""
    return _folder(CGROUPS, "")


def memory_left() -> int | None:
    """The bytes that we can have before the first limit of our group, or of one above it, is
    reached; None if there is no limit. Pages of files that nobody used lately do not count as used,
    as in MemAvailable."""
    version_1 = CGROUPS / "memory"
    left = [
        *(_left(group, VERSION_2) for group in _upwards(own_group(), CGROUPS)),
        *(_left(group, VERSION_1) for group in _upwards(_folder(version_1, "memory"), version_1)),
    ]
    return min((each for each in left if each is not None), default=None)


def _folder(root: Path, controller: str) -> Path:
    """Our group below ``root``, or ``root``: a container may see its own group as that. The line of
    version 2 names no controller."""
    for line in (read_text(NAMES) or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        folder = root / name.lstrip("/")
        if controller in controllers.split(",") and ".." not in folder.parts and folder.is_dir():
            return folder
    return root


def _upwards(folder: Path, root: Path) -> list[Path]:
    return [folder, *(each for each in folder.parents if each.is_relative_to(root))]


def _left(group: Path, files: _Files) -> int | None:
    found = [read_number(group / file) for file in files.limits]
    limits = [limit for limit in found if limit is not None]
    if not limits:
        return None
    inactive = int(fields(group / "memory.stat", " ").get(files.inactive, 0))
    used = max(0, (read_number(group / files.used) or 0) - inactive)
    return max(0, min(limits) - used)
