"""The fuzzer: its corpus, some of its own ideas, and faults that it has to find."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
COMPILER = "clang++-19"
FUZZ_TIME_S = int(os.environ.get("HEAPWISE_TEST_FUZZ_S", "8"))
LIMITS = ["-max_len=4096", "-timeout=25", "-rss_limit_mb=4096", "-print_final_stats=1"]


def run(*command: object, limit_s: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit_s,
    )


def runs_in(report: str) -> int:
    """How many inputs a fuzzer that ended well has tried."""
    found = re.search(r"stat::number_of_executed_units:\s*(\d+)", report)
    return int(found[1]) if found else 0


@pytest.fixture(scope="session")
def fuzzer() -> Path:
    """The heap under libFuzzer, built from what the tree holds now."""
    configured = run("cmake", "--preset", "fuzz")
    assert configured.returncode == 0, configured.stderr
    built = run("cmake", "--build", "--preset", "fuzz", limit_s=600)
    assert built.returncode == 0, built.stdout + built.stderr
    return ROOT / "build" / "fuzz" / "tests" / "fuzz" / "heap_fuzz"


def test_B1_22_the_corpus_passes(fuzzer: Path) -> None:
    done = run(fuzzer, "-runs=0", *LIMITS, CORPUS)
    assert done.returncode == 0, done.stderr
    assert runs_in(done.stderr) >= len(list(CORPUS.iterdir()))


def test_B1_22_new_ideas(fuzzer: Path, tmp_path: Path) -> None:
    """What it finds stays in build/fuzz/found; a file there repeats it: heap_fuzz FILE."""
    found = ROOT / "build" / "fuzz" / "found"
    found.mkdir(parents=True, exist_ok=True)
    ideas = tmp_path / "corpus"
    shutil.copytree(CORPUS, ideas)
    options = [f"-max_total_time={FUZZ_TIME_S}", f"-artifact_prefix={found}/", *LIMITS]
    done = run(fuzzer, *options, ideas, limit_s=FUZZ_TIME_S + 120)
    assert done.returncode == 0, done.stderr[-4000:]
    assert runs_in(done.stderr) > 1000


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzzer without a heap."""
    target = tmp_path_factory.mktemp("fuzz") / "heap_fuzz.o"
    options = ["-std=c++20", "-O1", "-fsanitize=fuzzer", "-Iinclude", "-Itests"]
    done = run(COMPILER, *options, "-c", HERE / "heap_fuzz.cpp", "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def corpus_under(fault: int, shell: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the corpus on a heap with a fault."""
    program = folder / "fuzz"
    options = ["-std=c++20", "-O1", f"-DFAULT={fault}", "-fsanitize=fuzzer", "-Iinclude"]
    done = run(COMPILER, *options, HERE / "planted.cpp", shell, "-o", program)
    assert done.returncode == 0, done.stderr
    return run(program, "-runs=0", f"-artifact_prefix={folder}/", *LIMITS, CORPUS)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (1, "bytes changed"),
        (2, "realloc lost bytes"),
        (3, "misaligned"),
        (4, "calloc gave a dirty block"),
        (5, "bytes changed"),
    ],
)
def test_the_corpus_finds_a_fault(fault: int, words: str, shell: Path, tmp_path: Path) -> None:
    done = corpus_under(fault, shell, tmp_path)
    assert done.returncode != 0
    assert f"shadow: {words}" in done.stderr


def test_the_corpus_finds_nothing_where_nothing_is(shell: Path, tmp_path: Path) -> None:
    done = corpus_under(0, shell, tmp_path)
    assert done.returncode == 0, done.stderr
