"""What `tools/package` writes, in a system where nothing else is installed, made by debootstrap.

The packages are installed, used and removed; the wheel is installed without a compiler.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).parent / "consumer"
COMPARE = ("compare", "--rounds", "2", "--json", "--quiet", "--",
           "/usr/bin/python3", "-c", "print(1)")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="root alone can make a system of its own"),
    pytest.mark.skipif(not shutil.which("debootstrap"), reason="debootstrap is not installed"),
]


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=1200, env=os.environ | environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages, and the wheels that the wheel needs, from a copy of what git knows."""
    tree = tmp_path_factory.mktemp("packages") / "tree"
    run("git", "clone", "--quiet", ROOT, tree)
    (tree / ".venv").symlink_to(Path(sys.prefix).resolve())
    run(tree / "tools/package")
    run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", tree / "dist/wheels",
        *(tree / "dist").glob("heapwise-*.whl"))
    return tree / "dist"


class System:
    """A minimal Debian with Python. Programs run in it with a /proc of their own, and only what is
    given here as their environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        run("debootstrap", "--variant=minbase", "--include=python3,python3-venv", "bookworm",
            folder)

    def run(self, *command: str, expected: int = 0, **environment: str) -> str:
        known = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/srv", "LANG": "C.UTF-8"}
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.folder}/proc",
             "chroot", str(self.folder), *command],
            capture_output=True, text=True, timeout=600, env=known | environment)
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Iterator[System]:
    system = System(tmp_path_factory.mktemp("debian") / "root")
    shutil.copytree(dist, system.folder / "dist")
    yield system
    shutil.rmtree(system.folder)


@pytest.fixture
def installed(system: System) -> Iterator[System]:
    packages = [f"/dist/{path.name}" for path in (system.folder / "dist").glob("*.deb")]
    system.run("dpkg", "--install", *packages)
    yield system
    system.run("dpkg", "--purge", *(Path(name).name.partition("_")[0] for name in packages))


def allocators(text: str) -> set[str]:
    return {str(row["subject"]) for row in json.loads(text)["rows"]}


def test_the_laboratory_compares_a_program(installed: System) -> None:
    assert installed.run("heapwise", "--version").startswith("heapwise ")
    assert {"glibc", "heapwise"} <= allocators(installed.run("heapwise", *COMPARE))
    for name in ("man/man1/heapwise-compare.1.gz", "bash-completion/completions/heapwise"):
        assert (installed.folder / "usr/share" / name).is_file()


def test_the_heap_is_preloaded(installed: System) -> None:
    program = "import ctypes; print(ctypes.CDLL(None).heapwise_good_size(100))"
    assert int(installed.run("python3", "-c", program, LD_PRELOAD="libheapwise-malloc.so")) >= 100


@pytest.mark.parametrize(("package", "expected"), [("heapwise", "64 freed\n"),
                                                   ("heapwise-malloc", "ours ours\n")])
def test_a_program_is_linked_by_pkg_config(installed: System, package: str, expected: str) -> None:
    """Compiled here, where there is a compiler, against the files of that system; run in it."""
    [folder] = installed.folder.glob("usr/lib/*/pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", package, PKG_CONFIG_LIBDIR=str(folder),
                PKG_CONFIG_SYSROOT_DIR=str(installed.folder)).split()
    source = CONSUMER / ("consumer.c" if package == "heapwise" else "malloc.c")
    run("gcc", "-std=c99", "-D_GNU_SOURCE", source, "-o", installed.folder / "program", *flags)
    assert installed.run("/program") == expected


def test_nothing_is_left_after_removal(system: System) -> None:
    def ours() -> list[Path]:
        return [*(system.folder / "usr").rglob("*heapwise*")]

    packages = [f"/dist/{path.name}" for path in (system.folder / "dist").glob("*.deb")]
    system.run("dpkg", "--install", *packages)
    system.run("heapwise", "list")
    assert ours() != []
    system.run("dpkg", "--purge", *(Path(name).name.partition("_")[0] for name in packages))
    assert ours() == []


def test_the_wheel_needs_no_compiler(system: System) -> None:
    [wheel] = (system.folder / "dist").glob("heapwise-*manylinux*.whl")
    system.run("python3", "-m", "venv", "/opt/environment")
    system.run("/opt/environment/bin/pip", "install", "--no-index", "--find-links=/dist/wheels",
               f"/dist/{wheel.name}")
    found = system.run("/opt/environment/bin/heapwise", *COMPARE)
    assert {"glibc", "heapwise"} <= allocators(found)
    page = "/srv/report.html"
    system.run("/opt/environment/bin/heapwise", "report", "last", "-o", page)
    assert "<html" in (system.folder / "srv/report.html").read_text()
