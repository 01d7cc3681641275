"""What the guide for containers says: its commands in a clean system, and what musl refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clean_system import CleanSystem

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "how-to" / "use-in-containers.md"
PROGRAM = 'int puts(const char *); int main(void) { return puts("begun") < 0; }\n'
HEAP = "import ctypes; print(ctypes.CDLL(None).heapwise_good_size(100))"

needs_a_system = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("debootstrap"),
    reason="only root with debootstrap can make a system of its own",
)


def dockerfiles() -> list[list[tuple[str, str]]]:
    """The instructions of each Dockerfile of the guide."""
    blocks = re.findall(r"```dockerfile\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return [
        [(word, rest) for word, _, rest in (line.partition(" ") for line in block.splitlines())]
        for block in blocks
    ]


def build(system: CleanSystem, instructions: list[tuple[str, str]], offline: str) -> dict[str, str]:
    """Does in a system of Debian 12 what docker does. Returns the environment of the image."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    for word, rest in instructions:
        if word == "COPY":
            system.shell(f"cp {rest}")
        elif word == "RUN" and "apt-get" not in rest:
            system.shell(rest.replace("pip install", f"pip install {offline}"))
        elif word == "ENV":
            name, _, value = rest.partition("=")
            environment[name] = value.replace("$PATH", environment["PATH"])
        else:
            assert word == "FROM" or "python3-venv" in rest
    return environment


@pytest.fixture
def system(tmp_path: Path, dist: Path) -> Iterator[CleanSystem]:
    system = CleanSystem(tmp_path / "root", "python3", "python3-venv")
    shutil.copytree(dist, system.folder / "srv/dist")
    yield system
    shutil.rmtree(system.folder)


@needs_a_system
@pytest.mark.slow
def test_an_image_is_built_by_each_dockerfile_of_the_guide(system: CleanSystem) -> None:
    with_heap, with_wheels = dockerfiles()
    environment = build(system, with_heap, "")
    assert int(system.run("python3", "-c", HEAP, **environment)) >= 100
    environment = build(system, with_wheels, "--no-index --find-links=/srv/dist/wheels")
    compare = "heapwise compare --rounds 2 --allocators glibc,mimalloc3 --quiet -- /bin/ls"
    assert "mimalloc3" in system.shell(f"{compare} || [ $? = 4 ]", **environment)


@pytest.fixture
def musl_program(tmp_path: Path) -> Path:
    if not shutil.which("musl-gcc"):
        pytest.skip("musl-gcc is not installed")
    (tmp_path / "program.c").write_text(PROGRAM)
    program = tmp_path / "program"
    subprocess.run(["musl-gcc", tmp_path / "program.c", "-o", program], check=True)
    return program


def test_a_program_of_musl_does_not_begin_under_the_heap(
    musl_program: Path, built_native: Path
) -> None:
    library = str(built_native / "libheapwise-malloc.so")
    done = subprocess.run(
        [musl_program], env={"LD_PRELOAD": library}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (127, "")
    for name in ("dladdr1", "__register_atfork"):
        assert re.search(rf"Error relocating .*: {name}: symbol not found", done.stderr)
    assert name in GUIDE.read_text(encoding="utf-8")


def test_a_comparison_of_a_program_of_musl_is_refused(
    musl_program: Path, heapwise: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = heapwise("compare", "--", str(musl_program))
    assert done.returncode != 0
    assert "E027" in done.stderr
    assert "E027" in GUIDE.read_text(encoding="utf-8")
