"""A wall clock that jumps for the Python processes of one machine, while they run.

The processes that such a Python starts with ``sys.executable`` have this clock too; what they
measure has the kernel's, as nothing is in the environment. Waiting until a time of the wall clock,
and the times of files, are the kernel's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("jumping_clock.c")
LINKER = "/lib64/ld-linux-x86-64.so.2"
SCRIPT = '#!/bin/sh\n{more}exec {linker} --argv0 "$0" --preload {library} {python} "$@"\n'


class JumpingClock:
    """python: an interpreter with the packages of this one, in ``folder``, that has this clock."""

    def __init__(self, folder: Path, **environment: str) -> None:
        (folder / "bin").mkdir(parents=True)
        self.python = folder / "bin/python3"
        self.offset_s = 0
        self._file = folder / "offset"
        self._write()
        library = folder / "jumping_clock.so"
        subprocess.run(
            [
                "cc",
                "-shared",
                "-fPIC",
                "-O1",
                f'-DOFFSET_FILE="{self._file}"',
                "-o",
                str(library),
                str(SOURCE),
                "-ldl",
            ],
            check=True,
        )
        self._make_python(folder, library, environment)

    def jump(self, seconds: int) -> None:
        """Forward, or back if it is negative."""
        self.offset_s += seconds
        self._write()

    def _write(self) -> None:
        """In place: processes have the page of this file."""
        with self._file.open("r+b" if self._file.exists() else "w+b") as file:
            file.write(self.offset_s.to_bytes(8, sys.byteorder, signed=True))

    def _make_python(self, folder: Path, library: Path, environment: dict[str, str]) -> None:
        """A virtual environment that shares the packages of ours."""
        home = Path(sys.prefix)
        (folder / "pyvenv.cfg").write_text((home / "pyvenv.cfg").read_text())
        (folder / "lib").symlink_to(home / "lib")
        more = "".join(f"export {name}='{value}'\n" for name, value in environment.items())
        self.python.write_text(
            SCRIPT.format(
                more=more, linker=LINKER, library=library, python=os.path.realpath(sys.executable)
            )
        )
        self.python.chmod(0o755)
