"""The library that takes malloc's place, preloaded into programs of every kind.

``HEAPWISE_TEST_MALLOC`` names another library, or ``host`` for the malloc of the C library:
what is promised by all must hold for them too, which shows that a test asks for nothing odd.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest
from shared import once

ROOT = Path(__file__).resolve().parents[2]
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HEAP = "libheapwise-malloc.so"
PROBE = "libheapwise-probe.so"
COUNT = "libheapwise-count.so"
HOST = "host"
PROFILES = ["default", "fast", "guarded", "hardened"]
COULD_NOT = "cannot be preloaded"


@dataclass(frozen=True)
class Done:
    """How a command ended: ``status`` as in subprocess, negative for a signal."""

    status: int
    out: bytes
    err: str
    seen: tuple[dict[str, object], ...] = ()

    def providers_of_malloc(self) -> dict[str, set[str]]:
        """File name of each program that ran -> the libraries that gave it malloc."""
        found: dict[str, set[str]] = {}
        for line in self.seen:
            malloc = line.get("malloc")
            if not isinstance(malloc, dict):  # of an exec, not of a process
                continue
            found.setdefault(Path(str(line["exe"])).name, set()).add(str(malloc["path"]))
        return found


@dataclass(frozen=True)
class Preload:
    """Starts commands with a library preloaded, or without one (``library`` None)."""

    library: Path | None
    native: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.library.name if self.library else HOST

    @property
    def is_ours(self) -> bool:
        return self.library is not None and self.library.name.startswith("libheapwise")

    def environment(self, **more: str) -> dict[str, str]:
        """Of a user who has set nothing, in the C locale, with the library preloaded."""
        plain = {
            "PATH": SEARCH_PATH,
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "TERM": "dumb",
            "TZ": "UTC",
        }
        preload = {"LD_PRELOAD": str(self.library)} if self.library else {}
        return plain | preload | self.variables | more

    def run(
        self, *command: str | Path, timeout_s: float = 120, cwd: Path | None = None, **more: str
    ) -> Done:
        """Runs to the end; fails the test when the end does not come or nothing was preloaded.

        ``more``: further variables of the command's environment.
        """
        words = [str(word) for word in command]
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(**more),
            cwd=cwd,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            end_group(process)
            pytest.fail(f"{' '.join(words)}: no end after {timeout_s:.0f} s under {self.name}")
        text = err.decode(errors="replace")
        assert COULD_NOT not in text, text
        return Done(process.returncode, out, text)

    def run_seen(
        self,
        folder: Path,
        *command: str | Path,
        timeout_s: float = 120,
        cwd: Path | None = None,
        **more: str,
    ) -> Done:
        """As ``run``, and every process that starts says who gives it malloc (``Done.seen``)."""
        lines = folder / f"seen-{self.name}"
        lines.unlink(missing_ok=True)
        libraries = [str(library) for library in (self.library, self.native / PROBE) if library]
        done = self.run(
            *command,
            timeout_s=timeout_s,
            cwd=cwd,
            HEAPWISE_PROBE_OUT=str(lines),
            **more | {"LD_PRELOAD": ":".join(libraries)},
        )
        seen = tuple(json.loads(line) for line in lines.read_text().splitlines())
        return Done(done.status, done.out, done.err, seen)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and what it started, which may hold its output open."""
    os.killpg(process.pid, 9)
    process.communicate()


def native_folder() -> Path | None:
    """``HEAPWISE_NATIVE``, else the newest of the repository's own builds."""
    if named := os.environ.get("HEAPWISE_NATIVE"):
        return Path(named)
    built = [file.parent for file in ROOT.glob(f"build/*/native/{PROBE}")]
    return max(built, key=lambda folder: (folder / PROBE).stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def native() -> Path:
    folder = native_folder()
    if folder is None or not (folder / PROBE).exists():
        pytest.fail("no native build: cmake --preset release && cmake --build --preset release")
    return folder


@pytest.fixture(scope="session")
def host(native: Path) -> Preload:
    """The malloc of the C library."""
    return Preload(None, native)


@pytest.fixture(scope="session")
def heap(native: Path) -> Preload:
    """The library under test."""
    named = os.environ.get("HEAPWISE_TEST_MALLOC")
    if named == HOST:
        return Preload(None, native)
    library = Path(named).resolve() if named else native / HEAP
    if not library.exists():
        pytest.fail(f"no {library.name}: cmake --preset release && cmake --build --preset release")
    return Preload(library, native)


Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles one source file into a program, once for each set of flags."""

    def build(source: Path, *flags: str) -> Path:
        def compile_into(folder: Path) -> None:
            compiler = ["g++", "-std=c++20"] if source.suffix == ".cpp" else ["gcc", "-std=gnu17"]
            command = [
                *compiler,
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-fno-builtin",
                "-pthread",
                f"-I{source.parent}",
                str(source),
                "-o",
                str(folder / source.stem),
                *flags,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

        words = f"{source}{flags}".encode()
        name = f"compiled-{source.stem}-{hashlib.sha256(words).hexdigest()[:16]}"
        return once(tmp_path_factory, name, compile_into) / source.stem

    return cache(build)


def missing(*programs: str) -> list[str]:
    """Those of the programs that are not where Debian's packages put them."""
    return [name for name in programs if shutil.which(name, path=SEARCH_PATH) is None]


@pytest.fixture
def profile_named(host: Preload) -> Callable[[str], Preload]:
    """The library of a profile, preloaded."""

    def named(name: str) -> Preload:
        ending = "" if name == "default" else f"-{name}"
        return replace(host, library=host.native / f"libheapwise-malloc{ending}.so")

    return named


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest, profile_named: Callable[[str], Preload]) -> Preload:
    """The library of each profile, preloaded."""
    return profile_named(request.param)
