"""The example of docs/how-to/gate-in-ci.md in a container.

It has a clone of the repository, a user without rights, and a root folder with nothing but the
files of programs, Heapwise and the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from test_gate_in_a_bare_root import ENTER, ROOT
from test_gate_in_ci import git, inputs_of_the_how_to, repository, step_of_the_action

__all__ = ["repository"]

SHOWN = ("/usr", "/proc", "/etc/alternatives")

USER = 1001
"""Of the runners of GitHub."""

WITHOUT_RIGHTS = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]


def without_rights() -> list[str]:
    """What starts a command as a user who may do nothing; a user of that kind is left as it is."""
    return ["setpriv", *WITHOUT_RIGHTS] if os.geteuid() == 0 else []


def may_read(path: Path) -> bool:
    words = [*without_rights(), "test", "-r", str(path)]
    return subprocess.run(words, check=False).returncode == 0


@pytest.fixture
def checkout(repository: Path) -> Iterator[Path]:
    """As actions/checkout makes it, with fetch-depth 0, in a folder that its user can reach."""
    with TemporaryDirectory(prefix="heapwise-action-") as name:
        folder = Path(name) / "workspace"
        git(Path(name), "clone", "--quiet", "--branch", "change", str(repository), str(folder))
        (Path(name) / "root").mkdir()
        (Path(name) / "bin").mkdir()
        for place in (Path(name), *Path(name).rglob("*")) if os.geteuid() == 0 else ():
            os.chown(place, USER, USER, follow_symlinks=False)
        yield folder


def run_the_action(
    checkout: Path, environment: dict[str, str], native: Path, inputs: dict[str, str]
) -> tuple[int, str]:
    """The exit code of the step, and the summary that it wrote."""
    folder = checkout.parent
    script, variables = step_of_the_action(inputs)
    root, command = folder / "root", folder / "bin" / "heapwise"
    python = Path(sys.prefix).resolve() / "bin" / "python"
    command.write_text(f'#!/bin/sh\nexec {python} -m heapwise "$@"\n')
    command.chmod(0o755)
    shown = [str(Path(at).resolve()) for at in (*SHOWN, ROOT, sys.prefix, native, folder)]
    inside = f'cd {checkout} && exec bash -eo pipefail -c "$1"'
    done = subprocess.run(
        [
            *without_rights(),
            *("unshare", "-r", "-m", "sh", "-c", ENTER, "sh", str(root), *shown, "--"),
            *("sh", "-c", inside, "sh", script),
        ],
        env=environment
        | variables
        | {
            "PATH": f"{command.parent}:/usr/bin:/usr/sbin",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "HEAPWISE_NATIVE": str(native.resolve()),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_OUTPUT": str(folder / "outputs"),
        },
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    print(done.stdout, done.stderr)
    summary = folder / "summary"
    return done.returncode, summary.read_text(encoding="utf-8") if summary.exists() else ""


def test_the_action_of_the_how_to_works_in_a_container(
    checkout: Path, built_native: Path, environment: dict[str, str]
) -> None:
    """The branch makes one allocation more. Then the same branch without it passes."""
    enter = [*without_rights(), "unshare", "-r", "-m", "true"]
    if subprocess.run(enter, check=False).returncode:
        pytest.skip("the kernel allows no namespace of users")
    if not (may_read(ROOT / "pyproject.toml") and may_read(checkout / "app.c")):
        pytest.skip("another user cannot read this checkout")
    inputs = inputs_of_the_how_to()
    inputs["base-commit"] = "origin/main"
    code, summary = run_the_action(checkout, environment, built_native, inputs)
    assert code == 1, summary
    assert "**Regressed**" in summary
    assert "1 more, exact, limit 0 %" in summary
    source = (checkout / "app.c").read_text().replace("< 1001", "< 1000 + 0")
    (checkout / "app.c").write_text(source)
    (checkout.parent / "summary").unlink()
    code, summary = run_the_action(
        checkout, environment, built_native, inputs | {"limits": "allocations=0"}
    )
    assert code == 0, summary
