"""Adding an experiment as the guide says touches one file: done here in a copy, built and run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "how-to" / "add-experiment.md"
NEW = "experiments/cpu/division.cpp"
ID = "cpu/division"
TIME_LIMIT_S = 900


def code_of_the_guide() -> str:
    text = GUIDE.read_text(encoding="utf-8")
    start = text.index("```c++\n") + len("```c++\n")
    return textwrap.dedent("   " + text[start:text.index("```", start)].lstrip(" "))


def sources() -> list[str]:
    """What is in the repository or is going to be; without git, all but what was built."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    built = {"build", ".venv", ".heapwise"}
    return [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")
            if p.is_file() and not built & set(p.relative_to(ROOT).parts)]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with one file more, and that experiment built."""
    tree = tmp_path_factory.mktemp("copy") / "tree"
    for name in sources():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    assert not (tree / NEW).exists()  # the one file that is touched
    (tree / NEW).parent.mkdir(parents=True, exist_ok=True)
    (tree / NEW).write_text(code_of_the_guide(), encoding="utf-8")
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DHEAPWISE_BUILD_TESTS=OFF", "-DHEAPWISE_WERROR=ON"]
    build(["cmake", "-S", str(tree), "-B", str(tree / "build"), "-G", "Ninja", *options])
    build(["cmake", "--build", str(tree / "build"), "--target", "experiment_cpu_division",
           "heapwise-launch", "heapwise-probe", "heapwise-count"])
    return tree


def build(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def heapwise(copy: Path, *words: str) -> str:
    environment = {**os.environ, "HEAPWISE_NATIVE": str(copy / "build" / "native"),
                   "HEAPWISE_STORE": str(copy / "store"), "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", "heapwise", *words], cwd=copy, text=True,
                          capture_output=True, timeout=TIME_LIMIT_S, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_listed_with_its_question(copy: Path) -> None:
    line = heapwise(copy, "list", ID)
    assert line.startswith(ID)
    assert line.endswith("What does an integer division cost beside a multiplication?\n")


def test_it_runs_is_judged_and_has_a_page_with_a_picture(copy: Path) -> None:
    result = json.loads(heapwise(copy, "run", ID, "--smoke", "--json"))
    assert {row["subject"] for row in result["rows"] if row["median"]} >= {
        "multiplication", "division"}
    assert [e["says"] for e in result["expectations"]] == [
        "a division takes longer than a multiplication and an addition"]
    heapwise(copy, "export", "--format", "pages", "-o", "pages")
    assert "# cpu/division" in (copy / "pages" / f"{ID}.md").read_text(encoding="utf-8")
    assert (copy / "pages" / f"{ID}.svg").exists()
