"""The heap's own tables: where they lie, and which of them are read-only."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SPANS = Path(__file__).parent / "spans.c"
SEALED = Path(__file__).parent / "sealed.c"


@pytest.mark.parametrize(
    ("name", "moves"), [("default", False), ("guarded", True), ("hardened", True)]
)
def test_the_tables_of_the_heap_lie_at_random_distances(
    profile_named: Any, compiled: Any, name: str, moves: bool
) -> None:
    program = compiled(SPANS)
    runs = [profile_named(name).run(program, "far", "100") for _ in range(2)]
    if any(run.status == 77 for run in runs):
        pytest.skip("the addresses of this heap are not known")
    assert [run.status for run in runs] == [0, 0]
    assert (runs[0].out != runs[1].out) == moves


def addresses_of(library: Path, names: tuple[str, ...]) -> list[str]:
    """Where the variables of these names are, in hexadecimal, from the begin of the library."""
    symbols = subprocess.run(
        ["nm", "--demangle", _with_symbols(library)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found = {
        name: line.split()[0] for name in names for line in symbols if line.endswith(f"::{name}")
    }
    assert list(found) == list(names)
    return list(found.values())


def _with_symbols(library: Path) -> Path:
    """The same library before its installation, which takes the symbols away."""
    linked = ROOT / "build/wheel/native" / library.name
    return linked if linked.exists() and _build_id(linked) == _build_id(library) else library


def _build_id(library: Path) -> str:
    notes = subprocess.run(
        ["readelf", "--notes", library], check=True, capture_output=True, text=True
    ).stdout
    return notes.partition("Build ID: ")[2].split()[0]


@pytest.mark.parametrize("name", ["default", "guarded", "hardened"])
def test_tables_that_never_change_are_read_only_once_the_heap_has_started(
    profile_named: Any, compiled: Any, name: str
) -> None:
    profile = profile_named(name)
    sealed = addresses_of(profile.library, ("the_facts", "the_options", "the_space", "the_guards"))
    constant = addresses_of(profile.library, ("no_cache", "no_later_cache", "no_blocks"))
    written = addresses_of(profile.library, ("the_large_stocks",))
    done = profile.run(
        compiled(SEALED), *sealed, *constant, *written, HEAPWISE_MALLOC_GUARD_EVERY="0"
    )
    fault = str(signal.SIGSEGV.value).encode()
    of_sealed = b"wrote" if name == "default" else fault
    assert done.out.split() == [of_sealed] * 4 + [fault] * 3 + [b"wrote"], done


def test_the_heap_does_not_start_if_its_facts_cannot_be_made_read_only(
    profile: Any, host: Any, compiled: Any
) -> None:
    """For lack of mappings it starts: it is promised to live without them."""
    program = compiled(SEALED)
    offsets = addresses_of(profile.library, ("the_facts",))
    plain = replace(host, library=None)

    def starts(error: str) -> list[Any]:
        return [
            plain.run(
                "strace",
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-E",
                f"LD_PRELOAD={profile.library}",
                "-e",
                f"inject=mprotect:error={error}:when={call}",
                program,
                *offsets,
            )
            for call in range(1, 31)
        ]

    refused = [done for done in starts("EPERM") if "facts read-only" in done.err]
    assert [done.status for done in refused] == [-signal.SIGABRT] * 4
    lived = [done.out for done in starts("ENOMEM") if done.status == 0]
    assert b"wrote\n" in lived
