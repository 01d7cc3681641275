"""The code in the README compiles and runs; its commands exist with the options that they use."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.tree import TextFile, line_of

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```[ \t]*$", re.MULTILINE | re.DOTALL)
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
COMPILERS = {"cpp": ["g++", "-std=c++20"], "c": ["gcc", "-std=c99"]}
RUN_TIME_LIMIT_S = 60
UNFINISHED = "RESULT" + "-HERE"


@dataclass(frozen=True)
class Block:
    """A fenced block of code and the line at which it begins."""

    language: str
    code: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a document."""
    for match in FENCE.finditer(text):
        yield Block(match[2], textwrap.dedent(match[3]), line_of(text, match.start()))


@cache
def libraries(root: Path) -> list[str]:
    """The static libraries of the preset that the tests build first."""
    targets = ["--target", "heapwise_static", "heapwise_gc_static"]
    for command in (["--preset", "dev"], ["--build", "--preset", "dev", *targets]):
        subprocess.run(["cmake", *command], cwd=root, check=True, capture_output=True)
    return [
        str(root / "build" / "dev" / "src" / f"lib{name}.a") for name in ("heapwise", "heapwise-gc")
    ]


def trouble_with_program(root: Path, block: Block) -> str:
    """What goes wrong when a block is compiled, linked and run; or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"block.{block.language}"
        source.write_text(block.code)
        compiler = [*COMPILERS[block.language], *WARNINGS, f"-I{root / 'include'}"]
        link = [*libraries(root), "-lstdc++", "-pthread"]
        program = Path(folder) / "program"
        command = [*compiler, str(source), "-o", str(program), *link]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode:
            return f"does not compile: {compiled.stderr.strip()}"
        done = subprocess.run([program], capture_output=True, timeout=RUN_TIME_LIMIT_S)
        return f"ends with {done.returncode}" if done.returncode else ""


@cache
def help_of(root: Path, verb: str) -> str | None:
    """What `heapwise VERB --help-all` prints; None when there is no such verb."""
    command = [str(root / ".venv/bin/heapwise"), *verb.split(), "--help-all"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def trouble_with_command(root: Path, line: str) -> str:
    """What is wrong with a line of shell; or nothing. Only our own commands are looked at."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["make"] and len(words) > 1:
        targets = re.findall(r"^(\w+):", (root / "Makefile").read_text(), re.MULTILINE)
        return "" if words[1] in targets else f"make has no target {words[1]}"
    if not words or words[0].rpartition("/")[2] != "heapwise":
        return ""
    ours = words[1 : words.index("--")] if "--" in words else words[1:]
    verb = " ".join(ours[:2]) if ours[:1] == ["peers"] else "".join(ours[:1])
    described = help_of(root, verb)
    if described is None:
        return f"heapwise has no verb {verb}"
    unknown = [
        word for word in ours if word.startswith("--") and word.split("=")[0] not in described
    ]
    return f"heapwise {verb} has no option {' '.join(unknown)}" if unknown else ""


def shell_lines(block: Block) -> Iterator[str]:
    """The commands of a block: in a session (console) those behind the prompt."""
    for line in block.code.splitlines():
        if block.language == "sh":
            yield line
        elif block.language == "console" and line.startswith("$ "):
            yield line[2:]


def offences(file: TextFile) -> Iterator[str]:
    """A sentence for each promise of the file's code that does not hold."""
    if UNFINISHED in file.text:
        yield f"{file.name}: {UNFINISHED} still waits for a result"
    for block in blocks(file.text):
        where = f"{file.name}:{block.line}"
        if block.language in COMPILERS and "int main(" in block.code:
            if trouble := trouble_with_program(file.root, block):
                yield f"{where}: {trouble}"
        for line in shell_lines(block):
            if trouble := trouble_with_command(file.root, line):
                yield f"{where}: {trouble}"
