"""Programs of others that link the heap as the guides say: by FetchContent, and from Go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = ROOT / "docs" / "how-to"
CONSUMER = Path(__file__).parent / "consumer"
GO = """package main

// #include <stdlib.h>
// size_t heapwise_malloc_usable_size(void *) __attribute__((weak));
// static int ours(void) { void *block = malloc(1000); int is = heapwise_malloc_usable_size != 0
//   && heapwise_malloc_usable_size(block) >= 1000; free(block); return is; }
import "C"
import "fmt"

func main() { fmt.Println("ours:", C.ours() == 1) }
"""


def run(*command: str | Path, at: Path, **environment: str) -> str:
    """The standard output of a command that has to succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=at,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_a_project_takes_the_heap_in_by_fetch_content(tmp_path: Path) -> None:
    text = (HOW_TO / "install.md").read_text(encoding="utf-8")
    block = re.search(r"```cmake\n(include\(FetchContent\).*?)```", text, re.DOTALL)
    assert block
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(yours C CXX)\n"
        f"add_executable(your-program {CONSUMER / 'malloc.cpp'})\n"
        + block[1].replace("/path/to/heapwise", str(ROOT))
    )
    run("cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", at=tmp_path)
    run("cmake", "--build", "build", "--target", "your-program", at=tmp_path)
    assert run(tmp_path / "build/your-program", at=tmp_path) == "ours ours\n"
    built = {path.name for path in tmp_path.rglob("*.so")}
    assert built == {"libheapwise-malloc.so"}, "only what is linked is built"


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_the_line_for_go_gives_its_c_code_the_heap(tmp_path: Path, built_native: Path) -> None:
    text = (HOW_TO / "use-the-heap.md").read_text(encoding="utf-8")
    line = re.search(r"^CGO_LDFLAGS=.* go build .*$", text, re.MULTILINE)
    assert line
    (tmp_path / "main.go").write_text(GO)
    (tmp_path / "go.mod").write_text("module yours\n")
    command = line[0].replace("/usr/local/lib", str(built_native))
    run("sh", "-ec", command, at=tmp_path, GOFLAGS="-mod=mod", GOCACHE=str(tmp_path / "cache"))
    said = run(tmp_path / "your-program", at=tmp_path, LD_LIBRARY_PATH=str(built_native))
    assert said == "ours: true\n"
