"""Counts the instructions of paths through the pools, for each policy and two sizes of blocks."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from conformance.build import USUAL, compile_one
from instruction_counts import compiler_of

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "tests" / "golden" / "pool_paths.cpp"
RECORD = SOURCE.with_suffix(".toml")
TITLE = "Instructions of the pools' paths"
TIMES = 100
TIMEOUT_S = 60

# Compiled with the program, so that one compiler made all that is counted.
PARTS = (
    "os/linux/memory.cpp",
    "os/linux/bare/bare_thread.cpp",
    "os/linux/process.cpp",
    "os/linux/waiting.cpp",
    "os/linux/bare/bare_state.cpp",
    "os/mutex.cpp",
    "pool/block_source.cpp",
    "pool/cache_registry.cpp",
    "pool/checking.cpp",
    "pool/chunks.cpp",
    "pool/failure.cpp",
)


def build(folder: Path) -> Path:
    """The program, built into ``folder``."""
    program = folder / SOURCE.stem
    sources = [str(ROOT / "src" / each) for each in PARTS]
    options = [f"-I{ROOT}/include", f"-I{ROOT}/src", "-D_GNU_SOURCE", "-DHEAPWISE_IN_LIBRARY"]
    compile_one(USUAL, SOURCE, program, *options, *sources)
    return program


def counts_of(program: Path, folder: Path) -> dict[str, float]:
    """Path -> instructions each time, rounded: those of a lock vary by a few in a hundred times."""
    out = folder / "callgrind"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    command += ["--toggle-collect=heapwise_once", str(program), str(TIMES)]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    counts: dict[str, float] = {}
    dumps = sorted(folder.glob(f"{out.name}.*"), key=lambda path: int(path.suffix[1:]))
    for dump in dumps:
        text = dump.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if name and total:
            counts[name[1]] = round(int(total[1]) / TIMES)
    return counts


def measure() -> tuple[str, dict[str, float]]:
    """The compiler, and path -> instructions each time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder)
        return compiler_of(program), counts_of(program, folder)
