"""Which version a library is: its package's, else what its name says."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


def package_versions(paths: Sequence[str]) -> dict[str, str]:
    """Upstream version of the Debian package that owns each path; paths without one are absent.

    A path is looked up once in a process.
    """
    if unknown := sorted({path for path in paths if path not in _known}):
        found = _query(unknown)
        _known.update({path: found.get(path) for path in unknown})
    return {path: version for path in paths if (version := _known[path]) is not None}


_known: dict[str, str | None] = {}
"""By path; None for one that no package owns."""


def _query(paths: Sequence[str]) -> dict[str, str]:
    if not shutil.which("dpkg-query"):
        return {}
    spellings = {spelling: path for path in paths for spelling in _spellings(path)}
    owners: dict[str, str] = {}
    for line in _dpkg("-S", *spellings).splitlines():
        package, _, file = line.partition(": ")
        if file in spellings:
            owners[spellings[file]] = package.split(",")[0]
    versions = (
        dict(
            line.split("=", 1)
            for line in _dpkg(
                "-W",
                "-f",
                "${binary:Package}=${Version}\n${Package}=${Version}\n",
                *sorted(set(owners.values())),
            ).splitlines()
        )
        if owners
        else {}
    )
    return {
        path: upstream(versions[package]) for path, package in owners.items() if package in versions
    }


def upstream(debian_version: str) -> str:
    """``2:5.3.0+dfsg-1`` is upstream's ``5.3.0``."""
    without_epoch = debian_version.partition(":")[2] or debian_version
    return re.split(r"[-+~]", without_epoch)[0]


UNKNOWN = "unknown version"


def soname_version(path: str) -> str:
    """``libjemalloc.so.2`` says ``so.2``: better than nothing, and not pretended to be more."""
    match = re.search(r"\.(so\.[.\d]+)$", Path(path).resolve().name)
    return match.group(1) if match else UNKNOWN


def _spellings(path: str) -> set[str]:
    """Packages list files under /lib and /usr/lib alike, whichever the link is today."""
    real = str(Path(path).resolve())
    both = {path, real}
    return both | {name.removeprefix("/usr") for name in both if name.startswith("/usr/lib")}


def _dpkg(*arguments: str) -> str:
    try:
        found = subprocess.run(
            ["dpkg-query", *arguments],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout
