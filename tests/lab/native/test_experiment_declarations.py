"""How an experiment is built stands in its own files, and nowhere else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXPERIMENTS = ROOT / "experiments"
READER = ROOT / "cmake" / "experiment_declarations.cmake"
DECLARATION = re.compile(r"^// optional: (\w+) = ", re.MULTILINE)
CHOICES = {"aligned_loops", "begun_first", "with_sanitizers"}
SOURCES = sorted(EXPERIMENTS.rglob("*.?pp"))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def included(path: Path) -> list[Path]:
    """The headers of its family that a file includes, and theirs."""
    family = EXPERIMENTS / path.relative_to(EXPERIMENTS).parts[0]
    names = re.findall(r'^#include "(sources/[^"]+)"', text_of(path), re.MULTILINE)
    direct = [family / name for name in names]
    return [*direct, *(deeper for header in direct for deeper in included(header))]


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(EXPERIMENTS)))
def test_an_optional_library_is_declared_where_it_is_used(source: Path) -> None:
    used = set(re.findall(r"defined\(HEAPWISE_HAS_(\w+)\)", text_of(source)))
    declared = {
        name for path in [source, *included(source)] for name in DECLARATION.findall(text_of(path))
    }
    if source.suffix == ".hpp" and not used <= declared:
        # A header that chooses subjects relies on one that the experiment includes before it.
        others = [p for p in SOURCES if source in included(p)]
        declared |= {
            name
            for p in others
            for q in [p, *included(p)]
            for name in DECLARATION.findall(text_of(q))
        }
    assert used <= declared


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(EXPERIMENTS)))
def test_a_choice_of_build_is_known(source: Path) -> None:
    lines = re.findall(r"^// build: (.+)$", text_of(source), re.MULTILINE)
    assert {choice for line in lines for choice in line.split(", ")} <= CHOICES


def test_the_build_names_no_family() -> None:
    families = [folder.name for folder in EXPERIMENTS.iterdir() if folder.is_dir()]
    any_of = "|".join(families)
    named = re.compile(rf"\b(?<!harness/)({any_of})[/_]\w+|ITEMS ({any_of})\b")
    for path in (ROOT / "cmake" / "experiments.cmake", READER, EXPERIMENTS / "CMakeLists.txt"):
        code = re.sub(r"#.*", "", text_of(path))
        assert not named.search(code), path.name


@pytest.mark.parametrize("declaration", ["TBB", "TBB = package TBB", "T = TBB::tbb", "T = a b"])
def test_a_declaration_that_says_too_little_ends_the_configuration(
    declaration: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.cmake"
    script.write_text(f'include("{READER}")\nheapwise_link_optional(mine "{declaration}")\n')
    done = subprocess.run(["cmake", "-P", str(script)], capture_output=True, text=True)
    assert done.returncode != 0
    assert "mine" in done.stderr
    assert declaration in done.stderr
