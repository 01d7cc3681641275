"""The heap's thread when its process gives up rights, or makes a child without handlers of fork."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
NOT_PERMITTED = 77
CALLS = (
    "setuid(nobody)",
    "seteuid(nobody)",
    "setreuid(nobody, nobody)",
    "setresuid(nobody, nobody, nobody)",
    "setgid(nobody)",
    "setegid(nobody)",
    "setregid(nobody, nobody)",
    "setresgid(nobody, nobody, nobody)",
    "setgroups(0, NULL)",
    'initgroups("nobody", nobody)',
    "drop_capabilities(0)",
    "drop_capabilities(1)",
    "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)",
    "prctl(PR_CAPBSET_DROP, CAP_SYS_TIME, 0, 0, 0)",
    "syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)",
    "syscall(SYS_setresuid, nobody, nobody, nobody)",
    "syscall(SYS_setgroups, 0, NULL)",
    "filter(0)",
    "filter(1)",
    "unshare(CLONE_NEWUSER)",
    "unshare(CLONE_NEWNS | CLONE_NEWUTS)",
    "syscall(SYS_unshare, CLONE_NEWNET)",
    "leave_files(0)",
    "leave_files(1)",
)
PROFILES = ("", "-hardened")


@pytest.mark.parametrize("profile", PROFILES, ids=lambda name: name or "default")
def test_no_thread_keeps_what_a_call_took_away(
    heap: Any, host: Any, compiled: Any, profile: str
) -> None:
    library = heap.library
    if heap.is_ours:
        library = heap.native / f"libheapwise-malloc{profile}.so"
    preload = {"LD_PRELOAD": str(library)} if library else {}
    done = host.run(compiled(HERE / "rights.c"), *CALLS, timeout_s=120, **preload)
    assert done.status in (0, NOT_PERMITTED), done.err


def test_a_static_program_has_no_thread_that_could_keep_rights(heap: Any, tmp_path: Path) -> None:
    archive = heap.native.parent / "src" / "libheapwise-malloc.a"
    if not heap.is_ours or not archive.exists():
        pytest.skip("there is no archive of this malloc")
    program = tmp_path / "rights"
    subprocess.run(
        [
            "gcc",
            "-std=gnu17",
            "-O1",
            "-static",
            "-fno-builtin",
            "-pthread",
            "-w",
            str(HERE / "rights.c"),
            str(archive),
            "-o",
            str(program),
        ],
        check=True,
    )
    done = subprocess.run([str(program), *CALLS], capture_output=True, timeout=120, check=False)
    assert done.returncode in (0, NOT_PERMITTED), done.stderr


@pytest.mark.parametrize("how", ["syscall", "clone3", "clone", "vfork"])
def test_children_that_no_handler_of_fork_knows_of(heap: Any, compiled: Any, how: str) -> None:
    if not heap.is_ours:
        pytest.skip("other heaps give memory back when they are called, if at all")
    done = heap.run(
        compiled(HERE / "bare_children.c"), how, timeout_s=120, HEAPWISE_MALLOC_PURGE_DELAY_MS="20"
    )
    assert (done.status, done.out) == (0, b"done\n"), done.err
