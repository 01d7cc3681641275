"""The commands of docs/how-to/find-where-memory-goes.md, one after another."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "find-where-memory-goes.md"


def test_each_command_does_what_the_page_says(
    heapwise: Heapwise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text("print(len([bytes(1000 + k) for k in range(2000)]))")
    (tmp_path / "script.js").write_text("console.log(Array(2000).fill().map(() => 'x').length)")
    (tmp_path / "Main.java").write_text(
        "class Main { public static void main(String[] words) { System.out.println(1); } }"
    )
    blocks = re.findall(r"```sh\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 7
    said = ""
    for line in lines:
        tool, *words = shlex.split(line)
        assert tool == "heapwise"
        if any(each in words and shutil.which(each) is None for each in ("node", "java")):
            continue
        done = heapwise(*words)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        said += done.stdout
    for title in ("Live at the peak", "Live at the end", "Skipped", "Lifetime, by bytes", "Lacks"):
        assert title in said
    for name in ("load.html", "load.pb.gz", "load.dhat.json", "load.folded", "load.peak.folded"):
        assert (tmp_path / name).stat().st_size > 0


def test_a_profile_has_a_page_and_exports(heapwise: Heapwise, tmp_path: Path) -> None:
    profile, page = tmp_path / "day.hwt", tmp_path / "day.html"
    done = heapwise(
        "record",
        "--profile",
        "--sample-every",
        "4096",
        "-o",
        str(profile),
        "--",
        "perl",
        "-e",
        "my @a = map { $_ x 9 } 1..20000",
    )
    assert done.returncode == 0, done.stderr
    done = heapwise(
        "trace", str(profile), "--html", str(page), "--export", str(tmp_path / "day.peak.folded")
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if str(profile) not in line]
    assert max(map(len, lines)) <= 80
    assert "95 % interval" in page.read_text()
    assert "perl_run" in (tmp_path / "day.peak.folded").read_text()
