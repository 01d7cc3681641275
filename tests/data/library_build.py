"""The library as its users build it, once for all tests that install it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "install"
"""As deep as the build of the wheel: what a compiler is told is the same, and ccache knows it."""


def compilers_of_the_wheel() -> list[str]:
    """Options of CMake: the compilers by the names that Python was built with, as the build of the
    wheel calls them. So ccache has the objects."""
    return [
        f"-DCMAKE_{language}_COMPILER={os.environ.get(variable) or python_has(variable)}"
        for language, variable in (("C", "CC"), ("CXX", "CXX"))
    ]


def python_has(variable: str) -> str:
    return str(sysconfig.get_config_var(variable)).split()[0]


def build_library() -> Path:
    """Returns the folder in which the library alone is built, without laboratory and tests."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process of pytest may want it too
        for words in (
            [
                "-G",
                "Ninja",
                "-S",
                ROOT,
                "-B",
                FOLDER,
                "-DCMAKE_BUILD_TYPE=Release",
                "-DHEAPWISE_BUILD_LAB=OFF",
                "-DHEAPWISE_BUILD_TESTS=OFF",
                *compilers_of_the_wheel(),
            ],
            ["--build", FOLDER],
        ):
            done = subprocess.run(["cmake", *map(str, words)], capture_output=True, text=True)
            assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return FOLDER
