"""Every command of docs/tutorial.md, in order, in an empty folder, with less time to measure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from library_build import build_library

pytestmark = pytest.mark.usefixtures("built_native")

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SOURCES = ("orders.cpp", "orders_pool.cpp")
LIMIT_S = 240


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TUTORIAL, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed library, for pkg-config."""
    prefix = tmp_path_factory.mktemp("library") / "prefix"
    subprocess.run(
        ["cmake", "--install", str(build_library()), "--prefix", str(prefix)],
        check=True,
        capture_output=True,
    )
    return prefix


@pytest.fixture
def shell(tmp_path: Path, library: Path, environment: dict[str, str]) -> dict[str, str]:
    command = tmp_path / "bin" / "heapwise"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m heapwise "$@"\n')
    command.chmod(0o755)
    [packages] = [*library.glob("lib*/pkgconfig"), *library.glob("lib/*/pkgconfig")]
    return environment | {
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(packages),
    }


def test_the_tutorial_works(tmp_path: Path, shell: dict[str, str]) -> None:
    place = Path(shell["PKG_CONFIG_PATH"]).parent
    folder = tmp_path / "work"
    folder.mkdir()
    for name, text in zip(SOURCES, blocks("cpp"), strict=True):
        # A tenth of the work: what is tested are the commands.
        (folder / name).write_text(text.replace("3000000", "300000"))
    said = {}
    for command in "".join(blocks("sh")).splitlines():
        quick = command.replace("--time 30s", "--time 4s").replace("gate ", "gate --time 8s ")
        # The library is not where the system looks for libraries.
        quick = quick.replace("--libs heapwise)", f"--libs heapwise) -Wl,-rpath,{place}")
        done = subprocess.run(
            ["sh", "-c", quick],
            cwd=folder,
            env=shell,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        # A noisy machine may be unable to tell (4): that is an answer of a gate, and no fault.
        allowed = (0, 1, 4) if " gate " in command else (0,)
        assert done.returncode in allowed, f"{command}\n{done.stdout}\n{done.stderr}"
        said[command] = done.stdout
    assert "heapwise" in said["heapwise compare --time 30s -- ./orders"]
    assert "orders_pool" in said["heapwise compare --time 30s ./orders ./orders_pool"]
    assert "<html" in (folder / "orders.html").read_text()
    assert " 80 B " in said["heapwise trace orders.hwt"]
    gate = said[next(command for command in said if " gate " in command)]
    assert re.search(r"[Aa]llocations .*(fewer|less|within|fine)", gate), gate
