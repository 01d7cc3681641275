"""The kernel of a Debian package, downloaded and unpacked into a folder, and never installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from kernel.unavailable import Unavailable

PACKAGE = "linux-image-cloud-amd64"
"""It stands for the newest kernel of this Debian release, and depends on the package of that."""

TIMEOUT_S = 300
DEPENDS = re.compile(r"^\s*Depends: (linux-image-\S+)$", re.MULTILINE)


def kernel_image(folder: Path) -> Path:
    """The kernel of ``PACKAGE``. ``folder`` keeps it, so that it is downloaded once."""
    name = _package_of_kernel()
    image = folder / name / "boot" / name.replace("linux-image-", "vmlinuz-")
    if not image.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run("apt-get", "download", name, folder=folder)
        [archive] = folder.glob(f"{name}_*.deb")
        _run("dpkg", "-x", archive.name, name, folder=folder)
        archive.unlink()
    if not image.exists():
        raise Unavailable(f"the package {name} has no {image.name}")
    return image


def _package_of_kernel() -> str:
    found = DEPENDS.search(_run("apt-cache", "depends", PACKAGE))
    if found is None:
        raise Unavailable(f"apt knows no package {PACKAGE}: apt-get update may help")
    return found[1]


def _run(*command: str, folder: Path | None = None) -> str:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not installed")
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} took longer than {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    return done.stdout
