"""What the default profile promises against misuse: each attack in a fresh process.

A verdict is a signal and the exact message, which names the address. Every attack has a benign
twin, which must pass, and must itself go through under a malloc that checks nothing.
"""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from conformance.observe import environment

FOREIGN = (
    "it is not an address of this heap. It may be of another allocator: of a library with its own "
    "malloc, or one that was loaded with RTLD_DEEPBIND"
)
MISALIGNED = "no block starts there"
INSIDE = "it is inside of a block, not its start"
FREED = "it was freed before"
NOTHING = "there is no block in use there"
NEXT = (
    "Next: run under a memory checker (valgrind, -fsanitize=address) to see who freed it; "
    "HEAPWISE_MALLOC_INVALID_FREE=warn goes on"
)

SMALL = (8, 128, 4096)
LARGE = 256 << 10

DETECTED = [
    *(("X1", "twice", size, FREED) for size in SMALL),
    *(("X1", "twice-by-another-thread", size, FREED) for size in SMALL),
    ("X2", "twice", LARGE, NOTHING),
    ("X2", "twice-by-another-thread", LARGE, NOTHING),
    *(("X5", "plus-1", size, MISALIGNED) for size in (*SMALL, LARGE)),
    *(("X5", "plus-8", size, MISALIGNED) for size in (*SMALL, LARGE)),
    ("X5", "plus-4-pages", LARGE, INSIDE),
    *(("X5", name, 128, FOREIGN) for name in ("number", "stack", "data", "constant")),
    *(("X5", name, 1 << 20, FOREIGN) for name in ("no-access", "foreign")),
    ("X6", "realloc-foreign", 128, FOREIGN),
    ("X17", "in-child", 128, FREED),
]


def run(
    built: Path, malloc: Path | None, *words: object, more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [str(built / "attacks"), *map(str, words)]
    return subprocess.run(
        command, env=environment(malloc, more), capture_output=True, text=True, timeout=120
    )


def address_in(output: str) -> str:
    """What the attack said that it would go for."""
    return next(line.split()[1] for line in output.splitlines() if line.startswith("target"))


def named(case: tuple[str, str, int, str]) -> str:
    return "-".join(map(str, case[:3]))


@pytest.mark.parametrize("case", DETECTED, ids=named)
def test_detected(case: tuple[str, str, int, str], library: Path, built: Path) -> None:
    _, name, size, reason = case
    done = run(built, library, name, size, "attack")
    message = f"heapwise: invalid free of {address_in(done.stdout)}: {reason}. {NEXT}\n"
    assert done.stderr == message
    assert done.returncode == -signal.SIGABRT
    assert "NOT CAUGHT" not in done.stdout


@pytest.mark.parametrize("case", DETECTED, ids=named)
def test_the_benign_twin_passes(
    case: tuple[str, str, int, str], library: Path, built: Path
) -> None:
    done = run(built, library, *case[1:3], "benign")
    assert done.stdout.endswith("HARMLESS\n")
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("case", DETECTED, ids=named)
def test_it_is_an_attack(case: tuple[str, str, int, str], built: Path) -> None:
    """Nobody looks: it goes through."""
    done = run(built, built / "careless.so", *case[1:3], "attack")
    assert done.stdout.endswith("NOT CAUGHT\n"), done.stderr


@pytest.mark.parametrize("size", [8, 16, 128, 4096, LARGE])
def test_X4_no_false_alarm(size: int, library: Path, built: Path) -> None:
    """A user's data may look like anything, like a mark of the heap too."""
    done = run(built, library, "looks-freed", size, "attack")
    assert done.stdout.endswith("NOT CAUGHT\n")
    assert (done.stderr, done.returncode) == ("", 0)


def test_X17_without_standard_error(library: Path, built: Path) -> None:
    done = run(built, library, "without-stderr", 128, "attack")
    assert done.returncode == -signal.SIGABRT
    assert run(built, library, "without-stderr", 128, "benign").returncode == 0


def test_X17_a_warning_goes_on(library: Path, built: Path) -> None:
    more = {"HEAPWISE_MALLOC_INVALID_FREE": "warn"}
    done = run(built, library, "number", 128, "attack", more=more)
    assert done.stderr == f"heapwise: invalid free of 0x1: {FOREIGN}. {NEXT}\n"
    assert done.stdout.endswith("NOT CAUGHT\n")
    assert done.returncode == 0


def fates(built: Path, malloc: Path, size: int, what: str) -> dict[str, int]:
    """How many children ended how."""
    done = subprocess.run(
        [str(built / "links"), str(size), what],
        env=environment(malloc),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}


ROUNDS = {"bytes": 4, "low": 4, "aim": 16}
"""Fresh processes, each with another secret."""


@pytest.mark.parametrize("size", [16, 128, 1024])
@pytest.mark.parametrize("what", ROUNDS)
def test_X12_no_controlled_pointer(what: str, size: int, library: Path, built: Path) -> None:
    """A link that was written over ends the process, or is not followed; never is it handed out."""
    for _ in range(ROUNDS[what]):
        found = fates(built, library, size, what)
        assert found["controlled"] == 0
        assert found["ended"] + found["whole"] >= 64


@pytest.mark.parametrize("size", [16, 128, 1024])
def test_X12_the_benign_twin_passes(size: int, library: Path, built: Path) -> None:
    assert fates(built, library, size, "benign") == {"whole": 16, "ended": 0, "controlled": 0}


@pytest.mark.parametrize("size", [16, 128, 1024])
def test_X12_is_an_attack(size: int, built: Path) -> None:
    """Links in the open give the attacker what is asked for, every time."""
    assert fates(built, built / "careless.so", size, "aim")["controlled"] == 64
