"""Stacks by frame pointers: whole ones are those of the unwinder, broken ones end early."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from heapwise.catalog import DRAIN, RECORDER, native_part
from heapwise.trace import open_trace
from heapwise.trace.names.symbols import Symbols

SOURCE = Path(__file__).resolve().parents[2] / "data" / "recorded" / "frames.cpp"

Stacks = dict[int, list[str]]

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="breaks a register of x86-64")


def stacks_of(folder: Path, program: Path, *, frame_pointers: bool) -> Stacks:
    """Names of the functions, the caller first, by the size of the block."""
    trace = folder / f"frames{frame_pointers}.hwt"
    subprocess.run(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(RECORDER)),
            "--stack-every",
            "1",
            "--frame-pointers",
            str(int(frame_pointers)),
            "--",
            str(program),
        ],
        check=True,
        timeout=120,
    )
    with open_trace(trace) as opened:
        symbols = Symbols(opened.modules)
        return {
            int(events.size[stack.row]): [
                str(symbols.place(frame).function) for frame in stack.addresses
            ]
            for events in opened.events()
            for stack in events.stacks
        }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frames")


@pytest.fixture(scope="module")
def program(folder: Path) -> Path:
    built = folder / "frames"
    subprocess.run(
        [
            "c++",
            "-O1",
            "-g",
            "-fno-builtin",
            "-fno-omit-frame-pointer",
            "-std=c++20",
            "-pthread",
            str(SOURCE),
            "-o",
            str(built),
        ],
        check=True,
    )
    return built


@pytest.fixture(scope="module")
def found(folder: Path, program: Path) -> Stacks:
    return stacks_of(folder, program, frame_pointers=True)


def test_a_whole_chain_is_the_stack(found: Stacks, folder: Path, program: Path) -> None:
    unwound = stacks_of(folder, program, frame_pointers=False)
    for size, last in ((5151, "main"), (5152, "in_thread")):
        names = found[size][:4]
        assert names == unwound[size][:4]
        for name, expected in zip(names, ("inner", "middle", "outer", last), strict=True):
            assert expected in name
        assert sum("inner" in name for name in unwound[size]) == 1


def test_a_site_that_is_new_has_its_stack_once(found: Stacks) -> None:
    """Each of its allocations has one here, and the first of a site has one anyway."""
    for size in (5151, 5152):
        assert sum("inner" in name for name in found[size]) == 1


@on_x86
@pytest.mark.parametrize("size", [6000, 6001, 6002, 6003, 6004])
def test_a_wrong_frame_pointer_ends_the_stack(size: int, found: Stacks) -> None:
    assert len(found[size]) == 1
    assert "malloc_with_frame" in found[size][0]


@on_x86
def test_a_chain_that_leads_back_ends(found: Stacks) -> None:
    assert len(found[6005]) == 2
    assert "malloc_with_frame" in found[6005][0]


@on_x86
def test_another_stack_than_the_thread_s_has_its_site_only(found: Stacks) -> None:
    assert len(found[7000]) == 1
    assert "malloc_with_frame" in found[7000][0]


ASKS = """
#define _GNU_SOURCE
#include <pthread.h>
static void *ask(void *argument) {
  for (int i = 0; i < 100; ++i) {
    pthread_attr_t found;
    if (pthread_getattr_np(pthread_self(), &found) != 0) return argument;
    pthread_attr_destroy(&found);
  }
  return argument;
}
int main(void) {
  pthread_t thread;
  ask(0);
  if (pthread_create(&thread, 0, ask, 0) != 0) return 1;
  return pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize("frame_pointers", [False, True])
def test_a_thread_that_asks_for_its_own_stack_is_recorded(
    folder: Path, frame_pointers: bool
) -> None:
    """glibc allocates for it and holds a lock of the thread, which the recorder must not need."""
    program = folder / "asks"
    subprocess.run(
        ["cc", "-O1", "-fno-omit-frame-pointer", "-pthread", "-x", "c", "-", "-o", str(program)],
        input=ASKS,
        text=True,
        check=True,
    )
    assert stacks_of(folder, program, frame_pointers=frame_pointers)
