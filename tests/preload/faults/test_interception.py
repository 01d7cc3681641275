"""Another library takes the functions that the heap calls: it hangs and crashes nowhere.

So do profilers (memray), tools that change the time (libfaketime), and libraries for communication
that want to know what is unmapped (UCX, OpenMPI, libfabric).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import interceptor
import pytest
from foreign_names import HEAP, SYSTEM_CALLS, replaceable, undefined
from shared import once

HERE = Path(__file__).parent
PROFILES = ("", "-fast", "-guarded", "-hardened")
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="written for x86-64")


@pytest.fixture(scope="module", params=PROFILES, ids=lambda name: name.lstrip("-") or "default")
def library(request: Any, native: Path) -> Path:
    return native / f"libheapwise-malloc{request.param}.so"


@pytest.fixture(scope="module")
def intercepting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = once(
        tmp_path_factory, "interceptor", lambda place: interceptor.build(replaceable(HEAP), place)
    )
    return folder / "libinterceptor.so"


def with_both(host: Any, library: Path, other: Path, *program: Any, **more: str) -> Any:
    return host.run(
        *program,
        timeout_s=60,
        LD_PRELOAD=f"{library}:{other}",
        HEAPWISE_MALLOC_PURGE_DELAY_MS="20",
        **more,
    )


def intercepted(done: Any) -> set[str]:
    words = (line.split() for line in done.err.splitlines())
    return {word[1] for word in words if word[:1] == ["intercepted"]}


@pytest.mark.parametrize("guard_every", ["0", "1"])
@pytest.mark.parametrize(
    "words",
    [("idle.c", "20"), ("survivor.c", "threads", "recovers"), ("survivor.c", "large", "recovers")],
    ids=" ".join,
)
def test_every_function_is_intercepted(
    host: Any,
    compiled: Any,
    library: Path,
    intercepting: Path,
    words: tuple[str, ...],
    guard_every: str,
) -> None:
    done = with_both(
        host,
        library,
        intercepting,
        compiled(HERE / words[0]),
        *words[1:],
        INTERCEPTOR_SAYS="1",
        HEAPWISE_MALLOC_GUARD_EVERY=guard_every,
        HEAPWISE_MALLOC_STATS="1",
    )
    assert (done.status, done.out) in ((0, b"given back\n"), (0, b"done 0\n")), done.err
    seen = intercepted(done)
    assert {"getauxval", "pthread_key_create", "__cxa_atexit"} <= seen
    own = {"open", "write"}  # of the programs, and of the interceptor
    assert not seen & (set(SYSTEM_CALLS) - own), seen


def test_nothing_else_is_asked_of_other_libraries(library: Path) -> None:
    """`foreign_names.py` has a reason for each of them."""
    assert undefined(library) == set(HEAP)


@pytest.mark.skipif(not FAKETIME.exists(), reason="apt install faketime")
def test_a_library_that_changes_the_time(host: Any, library: Path) -> None:
    done = with_both(host, library, FAKETIME, "date", "+%Y", FAKETIME="@2001-02-03 04:05:06")
    assert (done.status, done.out) == (0, b"2001\n"), done.err
