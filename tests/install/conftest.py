"""The packages, written once for all tests that install them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from clean_system import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages, and the wheels that the wheel needs, from a copy of what git knows; or those of
    the folder that ``HEAPWISE_DIST`` names, so that the files of a release can be tested."""
    if folder := os.environ.get("HEAPWISE_DIST"):
        return Path(folder)
    tree = tmp_path_factory.mktemp("packages") / "tree"
    run("git", "clone", "--quiet", ROOT, tree)
    (tree / ".venv").symlink_to(Path(sys.prefix).resolve())
    run(tree / "tools/package")
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--dest",
        tree / "dist/wheels",
        *(tree / "dist").glob("heapwise-*.whl"),
    )
    return tree / "dist"
