"""The Python packages that programs run with: what a lock file beside the programs names."""

from __future__ import annotations

import hashlib
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.catalog.added import RECORD, data_folder

PROGRAMS = "programs"
ADD_PROGRAMS = f"heapwise peers add {PROGRAMS}"


@dataclass(frozen=True)
class ProgramWheels:
    """One set of packages: that of ``<name>.lock``. Another lock, or another Python, is another
    set."""

    name: str
    lock: Path = field(compare=False)

    @property
    def version(self) -> str:
        """A fingerprint of all that decides what is fetched."""
        digest = hashlib.sha256(self.lock.read_bytes())
        digest.update((sys.implementation.cache_tag or "").encode())
        return digest.hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """Where the packages are if they were added."""
        return data_folder() / PROGRAMS / self.name / self.version

    @property
    def is_here(self) -> bool:
        return (self.folder / RECORD).is_file()


def wheels_beside(folder: Path) -> list[ProgramWheels]:
    """Every set that is declared in the folder of the programs, by name."""
    return [ProgramWheels(path.stem, path) for path in sorted(folder.glob("*.lock"))]


def forget_wheels(wheels: ProgramWheels) -> bool:
    """Removes every version of the packages; False if there was none. OSError if they stay."""
    home = data_folder() / PROGRAMS / wheels.name
    if not home.is_dir():
        return False
    shutil.rmtree(home)
    return True
