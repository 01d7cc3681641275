"""The pairs of command lines of docs/how-to/compare-builds.md: what hyperfine does, and compare."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heapwise.cli.frame.app import verbs_command
from heapwise.cli.frame.ask.shell_choice import NO_SHELL

pytestmark = pytest.mark.usefixtures("built_native")

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "compare-builds.md"
PAIR = re.compile(r"^ *hyperfine +(.*)\n *heapwise compare +(.*)$", re.MULTILINE)
PAIRS = PAIR.findall(HOW_TO.read_text(encoding="utf-8"))
EXPORT = {"--export-markdown": "--export"}
"""The options that have another name in Heapwise."""


def quick(words: list[str]) -> list[str]:
    """Two rounds, if the page does not say how many."""
    return words if "-r" in words else ["-r", "2", *words]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both write a line with their arguments into a file of their own, but nothing on stdout."""
    for name in ("old", "new"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$*" >> {name}.log\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_three_pairs_with_the_same_options() -> None:
    assert len(PAIRS) == 3
    for theirs, ours in PAIRS:
        assert [EXPORT.get(word, word) for word in shlex.split(theirs)] == shlex.split(ours)


def test_each_option_of_the_table_exists() -> None:
    text = HOW_TO.read_text(encoding="utf-8").partition("| option | meaning |")[2]
    cells = re.findall(r"^\| (.*?) \|", text.partition("\n\n")[0], re.MULTILINE)
    named = {option for cell in cells for option in re.findall(r"`(--?[A-Za-z][\w-]*)", cell)}
    assert len(named) > 15
    root: Any = verbs_command("compare")
    context = root.make_context("heapwise", ["compare"])
    _, command, _ = root.resolve_command(context, ["compare"])
    known = {name for each in command.params for name in each.opts}
    assert named <= known | set(NO_SHELL)


@pytest.mark.parametrize("pair", PAIRS, ids=["two commands", "a cold start", "several settings"])
def test_both_run_the_same_commands(
    pair: tuple[str, str], heapwise: Heapwise, programs: Path
) -> None:
    hyperfine = shutil.which("hyperfine")
    if hyperfine is None:
        pytest.skip("hyperfine is not installed")
    theirs, ours = (quick(shlex.split(line)) for line in pair)
    done = subprocess.run(
        [hyperfine, *theirs], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    expected = {name: kinds_of(programs / f"{name}.log") for name in ("old", "new")}
    done = heapwise("compare", *ours)
    assert done.returncode == 0, done.stderr
    found = {name: kinds_of(programs / f"{name}.log") for name in ("old", "new")}
    assert found == expected
    if "table.md" in ours:
        assert "| old" in (programs / "table.md").read_text(encoding="utf-8")


def kinds_of(log: Path) -> set[str]:
    """The different lines. The file is removed."""
    lines = set(log.read_text(encoding="utf-8").splitlines())
    log.unlink()
    return lines


@pytest.mark.parametrize("failing", ["1", "2", "3"])
def test_a_value_that_fails_does_not_end_the_others(
    failing: str, heapwise: Heapwise, programs: Path
) -> None:
    (programs / "old").write_text(f'#!/bin/sh\n[ "$1" != {failing} ]\n')
    words = ["-L", "threads", "1,2,3", "./old {threads}", "./new {threads}"]
    done = heapwise("compare", "--json", "-r", "2", "-w", "0", *words)
    assert done.returncode == 3, done.stderr
    assert median_of_each(json.loads(done.stdout)) == {
        threads: threads != failing for threads in ("1", "2", "3")
    }


def median_of_each(result: dict[str, Any]) -> dict[str, bool]:
    """Value of threads -> whether the first command has a time for it."""
    return {
        str(row["parameters"]["threads"]): row["median"] is not None
        for row in result["rows"]
        if row["subject"].startswith("old")
        and "control" not in row["subject"]
        and row["parameters"]["quantity"] == "wall_time"
    }
