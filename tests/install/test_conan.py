"""The Conan recipe: its package is built without a network, and a project links what is in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging" / "conan"
SETTINGS = ("-s", "compiler.cppstd=20", "--no-remote")

pytestmark = pytest.mark.slow


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=1800,
        env=os.environ | environment,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def conan(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The locked Conan, and a home in which nothing is cached."""
    folder = tmp_path_factory.mktemp("conan")
    run(sys.executable, "-m", "venv", folder / "environment")
    run(
        folder / "environment/bin/pip",
        "install",
        "--quiet",
        "--require-hashes",
        "--requirement",
        RECIPE / "requirements.lock",
    )
    command, home = folder / "environment/bin/conan", folder / "home"
    run(command, "profile", "detect", CONAN_HOME=str(home))
    return command, home


def test_the_package_is_made_and_a_project_uses_it(conan: tuple[Path, Path]) -> None:
    command, home = conan
    folder = ("-c", f"tools.cmake.cmake_layout:test_folder={home.parent / 'consumer'}")
    said = run(
        command,
        "create",
        RECIPE,
        "--build=missing",
        *SETTINGS,
        *folder,
        CONAN_HOME=str(home),
    )
    assert said.count("pool: 7, freed") == 2  # linked to the static library, and to the shared one
    assert "heap: operator new is ours" in said
    [version] = re.findall(
        r"^  VERSION ([0-9.]+)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE
    )
    again = run(
        command,
        "test",
        RECIPE / "test_package",
        f"heapwise/{version}",
        *SETTINGS,
        *folder,
        CONAN_HOME=str(home),
    )
    assert again.count("pool: 7, freed") == 2


def test_another_system_is_refused_with_the_reason(conan: tuple[Path, Path]) -> None:
    command, home = conan
    done = subprocess.run(
        [command, "create", RECIPE, "-s", "os=Windows", *SETTINGS],
        capture_output=True,
        text=True,
        env=os.environ | {"CONAN_HOME": str(home)},
    )
    assert done.returncode != 0
    assert "Heapwise runs on Linux only" in done.stdout + done.stderr
