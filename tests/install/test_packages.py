"""What `tools/package` writes, in a system where nothing else is installed, made by debootstrap.

The packages are installed, used and removed; the wheel is installed without a compiler.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from clean_system import CleanSystem, run

CONSUMER = Path(__file__).parent / "consumer"
COMPARE = (
    "compare",
    "--rounds",
    "2",
    "--json",
    "--quiet",
    "--",
    "/usr/bin/python3",
    "-c",
    "print(1)",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="root alone can make a system of its own"),
    pytest.mark.skipif(not shutil.which("debootstrap"), reason="debootstrap is not installed"),
]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Iterator[CleanSystem]:
    system = CleanSystem(tmp_path_factory.mktemp("debian") / "root", "python3", "python3-venv")
    shutil.copytree(dist, system.folder / "dist")
    yield system
    shutil.rmtree(system.folder)


@pytest.fixture
def installed(system: CleanSystem) -> Iterator[CleanSystem]:
    packages = [f"/dist/{path.name}" for path in (system.folder / "dist").glob("*.deb")]
    system.run("dpkg", "--install", *packages)
    yield system
    system.run("dpkg", "--purge", *(Path(name).name.partition("_")[0] for name in packages))


def allocators(text: str) -> set[str]:
    return {str(row["subject"]) for row in json.loads(text)["rows"]}


def test_the_laboratory_compares_a_program(installed: CleanSystem) -> None:
    assert installed.run("heapwise", "--version").startswith("heapwise ")
    assert {"glibc", "heapwise"} <= allocators(installed.run("heapwise", *COMPARE))
    for name in ("man/man1/heapwise-compare.1.gz", "bash-completion/completions/heapwise"):
        assert (installed.folder / "usr/share" / name).is_file()


def test_the_heap_is_preloaded(installed: CleanSystem) -> None:
    program = "import ctypes; print(ctypes.CDLL(None).heapwise_good_size(100))"
    assert int(installed.run("python3", "-c", program, LD_PRELOAD="libheapwise-malloc.so")) >= 100


@pytest.mark.parametrize(
    ("package", "expected"), [("heapwise", "64 freed\n"), ("heapwise-malloc", "ours ours\n")]
)
def test_a_program_is_linked_by_pkg_config(
    installed: CleanSystem, package: str, expected: str
) -> None:
    """Compiled here, where there is a compiler, against the files of that system; run in it."""
    [folder] = installed.folder.glob("usr/lib/*/pkgconfig")
    flags = run(
        "pkg-config",
        "--cflags",
        "--libs",
        package,
        PKG_CONFIG_LIBDIR=str(folder),
        PKG_CONFIG_SYSROOT_DIR=str(installed.folder),
    ).split()
    source = CONSUMER / ("consumer.c" if package == "heapwise" else "malloc.c")
    run("gcc", "-std=c99", "-D_GNU_SOURCE", source, "-o", installed.folder / "program", *flags)
    assert installed.run("/program") == expected


def test_nothing_is_left_after_removal(system: CleanSystem) -> None:
    def ours() -> list[Path]:
        return [*(system.folder / "usr").rglob("*heapwise*")]

    packages = [f"/dist/{path.name}" for path in (system.folder / "dist").glob("*.deb")]
    system.run("dpkg", "--install", *packages)
    system.run("heapwise", "list")
    assert ours() != []
    system.run("dpkg", "--purge", *(Path(name).name.partition("_")[0] for name in packages))
    assert ours() == []


def test_the_wheel_needs_no_compiler(system: CleanSystem) -> None:
    [wheel] = (system.folder / "dist").glob("heapwise-*manylinux*.whl")
    system.run("python3", "-m", "venv", "/opt/environment")
    system.run(
        "/opt/environment/bin/pip",
        "install",
        "--no-index",
        "--find-links=/dist/wheels",
        f"/dist/{wheel.name}",
    )
    found = system.run("/opt/environment/bin/heapwise", *COMPARE)
    assert {"glibc", "heapwise"} <= allocators(found)
    page = "/srv/report.html"
    system.run("/opt/environment/bin/heapwise", "report", "last", "-o", page)
    assert "<html" in (system.folder / "srv/report.html").read_text()
