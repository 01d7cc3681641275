"""A virtual machine with the kernel of this Debian release, and what runs in it."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.guest import Guest
from kernel.machine import Ended, Machine
from kernel.package import kernel_image
from kernel.unavailable import Unavailable

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Boot = Callable[..., Ended]


@pytest.fixture(scope="session")
def native() -> Path:
    """``HEAPWISE_NATIVE``, else what ``make setup`` installed."""
    named = os.environ.get("HEAPWISE_NATIVE")
    return Path(named or Path(sysconfig.get_path("purelib")) / "heapwise" / "native").absolute()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A C program of this folder."""
    folder = tmp_path_factory.mktemp("compiled")

    def build(name: str) -> Path:
        program = folder / name
        if not program.exists():
            subprocess.run(
                [
                    "gcc",
                    "-std=gnu17",
                    "-O1",
                    "-Wall",
                    "-Wextra",
                    "-fno-builtin",
                    str(HERE / f"{name}.c"),
                    "-o",
                    str(program),
                ],
                check=True,
            )
        return program

    return build


@pytest.fixture(scope="session")
def boot() -> Boot:
    """Runs a script of ``sh`` in a guest that has these files. Skips the test, with the reason, if
    no guest can be started here."""
    try:
        machine = Machine(kernel_image(ROOT / "build" / "kernel"), memory_mib=4096)
        Guest()
    except Unavailable as reason:
        pytest.skip(f"no other kernel can be booted: {reason}")

    def start(script: str, *files: Path) -> Ended:
        guest = Guest()
        guest.add(*files)
        try:
            return machine.run(guest, script, timeout_s=900)
        except Unavailable as reason:
            pytest.skip(f"no other kernel can be booted: {reason}")

    return start
