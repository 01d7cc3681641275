"""Adding an experiment as the guide says copies one file: done here in a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_build import compilers_of_the_wheel

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "how-to" / "add-experiment.md"
TEMPLATE = ROOT / "experiments" / "example" / "division.cpp"
NEW = "experiments/example/mine.cpp"
ID = "example/mine"
MOST_LINES = 60
TIME_LIMIT_S = 900


def commands_of_the_guide() -> list[list[str]]:
    """Those of its first block for a shell: copy, build, run."""
    text = GUIDE.read_text(encoding="utf-8")
    block = text[text.index("```sh\n") + len("```sh\n") :]
    lines = block[: block.index("```")].replace("&&", "\n").splitlines()
    return [shlex.split(line) for line in lines if line.strip()]


def sources() -> list[str]:
    """What is in the repository or is going to be; without git, all but what was built."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    built = {"build", ".venv", ".heapwise"}
    return [
        str(p.relative_to(ROOT))
        for p in ROOT.rglob("*")
        if p.is_file() and not built & set(p.relative_to(ROOT).parts)
    ]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, in which the commands of the guide were run, and no others. The compilers have
    the names and options of the wheel's build: so ccache has all objects but the new one, and the
    warnings that there were."""
    tree = tmp_path_factory.mktemp("copy") / "tree"
    for name in sources():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    assert not (tree / NEW).exists()
    laboratory = [
        "cmake",
        "--build",
        "--preset",
        "release",
        "--target",
        "heapwise-launch",
        "heapwise-probe",
        "heapwise-count",
    ]
    as_the_wheel = [*compilers_of_the_wheel(), "-DHEAPWISE_WERROR=OFF"]
    for command in [*commands_of_the_guide(), laboratory]:
        if command[:2] == ["cmake", "--preset"]:
            command += as_the_wheel
        done = subprocess.run(
            command, cwd=tree, capture_output=True, text=True, timeout=TIME_LIMIT_S
        )
        said = done.stdout[-3000:] + done.stderr[-3000:]
        assert done.returncode == 0, said
        assert "warning:" not in done.stdout, said
    return tree


def test_the_file_to_copy_is_short_and_the_guide_knows_its_length() -> None:
    lines = len(TEMPLATE.read_text(encoding="utf-8").splitlines())
    assert lines < MOST_LINES
    words = " ".join(GUIDE.read_text(encoding="utf-8").split())
    assert re.findall(r"has (\d+) lines", words) == [str(lines)]


def test_one_file_was_copied_and_nothing_else_changed(copy: Path) -> None:
    assert all((copy / name).read_bytes() == (ROOT / name).read_bytes() for name in sources())
    assert (copy / NEW).read_bytes() == TEMPLATE.read_bytes()


def heapwise(copy: Path, *words: str) -> str:
    environment = {
        **os.environ,
        "HEAPWISE_NATIVE": str(copy / "build" / "release" / "native"),
        "HEAPWISE_STORE": str(copy / "store"),
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "heapwise", *words],
        cwd=copy,
        text=True,
        capture_output=True,
        timeout=TIME_LIMIT_S,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_listed_with_its_question(copy: Path) -> None:
    line = heapwise(copy, "list", ID)
    assert line.startswith(ID)
    assert line.endswith("What does an integer division cost beside a multiplication?\n")


def test_it_runs_is_judged_and_has_a_page_with_a_picture(copy: Path) -> None:
    result = json.loads(heapwise(copy, "run", ID, "--smoke", "--json"))
    assert {row["subject"] for row in result["rows"] if row["median"]} >= {
        "multiplication",
        "division",
    }
    heapwise(copy, "export", "--format", "pages", "-o", "pages")
    assert f"# {ID}" in (copy / "pages" / f"{ID}.md").read_text(encoding="utf-8")
    assert (copy / "pages" / f"{ID}.svg").exists()
