"""``heapwise gate`` with limits of what one build may need: no base is measured."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  for (int block = 0; block < 1000; ++block) {
    void* volatile memory = malloc(64);
    free(memory);
  }
  char* volatile large = malloc(32 << 20);
  memset(large, 1, 32 << 20);
  free(large);
}
"""


@pytest.fixture
def app(tmp_path: Path) -> str:
    (tmp_path / "app.c").write_text(SOURCE)
    subprocess.run(["cc", "-O0", "-o", "app", "app.c"], cwd=tmp_path, check=True)
    return "./app"


def limits(*words: str) -> list[str]:
    return [part for word in words for part in ("--limit", word)]


def test_a_build_within_its_limits_is_fine_without_a_base(heapwise: Any, app: str) -> None:
    words = limits("memory<=64MiB", "allocations<=1001", "allocated_bytes<=33M", "time<=20s")
    done = heapwise("gate", "--new", app, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Allocations are fine: 1,001, exact, limit 1,001." in done.stdout
    assert "Peak memory is fine: " in done.stdout
    assert "limit 64.0 MiB." in done.stdout
    assert "Time is fine: " in done.stdout


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("allocations<=1000", "Allocations exceed the limit: 1,001, exact, limit 1,000."),
        ("memory<=16MiB", "Peak memory exceeds the limit: 3"),
        ("time<=0.01ms", "Time exceeds the limit: "),
    ],
)
def test_a_build_beyond_a_limit_fails(
    heapwise: Any, tmp_path: Path, app: str, limit: str, sentence: str
) -> None:
    suffixes = ("md", "xml", "sarif", "bmf.json")
    files = [word for suffix in suffixes for word in ("--export", f"gate.{suffix}")]
    done = heapwise("gate", "--new", app, *limits(limit), *files, "--json", "--time", "30s")
    assert done.returncode == 1, done.stdout + done.stderr
    [row] = json.loads(done.stdout)["gate"]["rows"]
    assert row["absolute"]
    assert row["base"] is None
    assert row["new"] > row["limit"]
    assert row["sentence"].startswith(sentence)
    assert "≤ " in (tmp_path / "gate.md").read_text()
    assert Xml.parse(tmp_path / "gate.xml").find(".//failure") is not None
    [rule] = json.loads((tmp_path / "gate.sarif").read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert " is at most " in rule["shortDescription"]["text"]
    assert json.loads((tmp_path / "gate.bmf.json").read_text())["app"]


def test_a_time_at_its_limit_cannot_be_told(heapwise: Any, tmp_path: Path) -> None:
    """Half of the runs are far below it, and half far beyond it."""
    script = tmp_path / "app"
    script.write_text(
        "#!/bin/sh\nread n <count; echo $((n + 1)) >count; [ $((n % 2)) = 0 ] || sleep 0.3\n"
    )
    script.chmod(0o755)
    (tmp_path / "count").write_text("0\n")
    words = limits("time<=0.1s")
    done = heapwise("gate", "--new", "./app", *words, "--time", "5s", "--strict")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "Time cannot be told yet: " in done.stdout


def test_limits_of_both_kinds_are_two_gates(heapwise: Any, app: str) -> None:
    done = heapwise("gate", "--base", app, "--new", app, *limits("time<=2s", "time=3%"))
    assert done.returncode == 2
    assert "They are two gates" in " ".join(done.stderr.split())


@pytest.mark.parametrize("limit", ["tim<=2s", "time<=soon", "memory<=much", "allocations<=3%"])
def test_a_limit_that_is_not_an_amount_is_refused(heapwise: Any, app: str, limit: str) -> None:
    done = heapwise("gate", "--new", app, *limits(limit))
    assert done.returncode == 2
    assert "E003" in done.stderr


def test_a_dry_run_says_its_plan_as_json(heapwise: Any, app: str) -> None:
    done = heapwise("gate", "--new", app, *limits("time<=2s"), "--dry-run", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["limits"] == {"time": 2.0}
