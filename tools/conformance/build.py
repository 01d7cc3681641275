"""Builds the programs that ask malloc, in several ways."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "tests" / "conformance"
COMMON = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{SOURCES}")
TIME_LIMIT_S = 300


class BuildProblem(Exception):
    """A program that does not compile; the text is the compiler's."""


@dataclass(frozen=True)
class Variant:
    """One way to compile: what the compiler does with calls of malloc differs."""

    compiler: str
    flags: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join((self.compiler, *self.flags))


USUAL = Variant("g++", ("-O2",))
VARIANTS = tuple(
    Variant(compiler, flags)
    for compiler in ("g++", "clang++-19")
    for flags in (("-O0",), ("-O2",), ("-O3", "-flto"), ("-O2", "-D_FORTIFY_SOURCE=3"))
)


def names(kind: str) -> list[str]:
    """The programs (``kind`` "programs") or libraries ("plugins") that there are."""
    return sorted(path.stem for path in (SOURCES / kind).glob("*.cpp"))


def compile_one(variant: Variant, source: Path, target: Path, *more: str) -> None:
    """Compiles and links one source. BuildProblem when it does not compile."""
    options = [*COMMON, *variant.flags]
    command = [variant.compiler, *options, str(source), "-o", str(target), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    if done.returncode:
        raise BuildProblem(f"{' '.join(command)}\n{done.stderr}")


def commands(variant: Variant, folder: Path) -> Iterator[tuple[Variant, Path, Path, Sequence[str]]]:
    for name in names("programs"):
        yield variant, SOURCES / "programs" / f"{name}.cpp", folder / name, ()
    for name in names("plugins"):
        source = SOURCES / "plugins" / f"{name}.cpp"
        yield variant, source, folder / f"{name}.so", ("-shared", "-fPIC")


def build(variant: Variant, folder: Path) -> Path:
    """Builds every program and library into ``folder``; returns it. BuildProblem as above."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = [
            pool.submit(compile_one, variant, source, target, *more)
            for variant, source, target, more in commands(variant, folder)
        ]
        for each in waiting:
            each.result()
    return folder
