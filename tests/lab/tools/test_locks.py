"""What pip installs is locked: each version has hashes, and each dependency is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
LOCKS = (
    "requirements.lock",
    "tools/site/requirements.lock",
    "packaging/conan/requirements.lock",
    "programs/rl.lock",
    "tests/world/registries/pypi/requirements.lock",
)


def locked(text: str) -> dict[str, tuple[str, int]]:
    """Name -> version and number of hashes."""
    entries = re.findall(
        r"^([\w.-]+)==(\S+)((?: \\\n +--hash=sha256:[0-9a-f]{64})*)", text, re.MULTILINE
    )
    return {
        canonicalize_name(name): (version, hashes.count("--hash="))
        for name, version, hashes in entries
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_each_version_has_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = locked(text)
    assert len(entries) == len(re.findall(r"^[\w.-]+.*==", text, re.MULTILINE)) > 0
    assert [name for name, (_, hashes) in entries.items() if hashes == 0] == []


def test_the_lock_has_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [Requirement(text) for text in (*project["dependencies"], *extras["dev"])]
    entries = locked((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert [
        str(each)
        for each in wanted
        if entries.get(canonicalize_name(each.name), ("", 0))[0] not in each.specifier
    ] == []


@pytest.mark.parametrize(
    "script",
    [
        "tools/setup",
        "tools/build_site",
        "tests/install/test_conan.py",
        "tools/world/environments.py",
    ],
)
def test_pip_demands_the_hashes(script: str) -> None:
    assert "--require-hashes" in (ROOT / script).read_text(encoding="utf-8")
