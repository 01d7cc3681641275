"""Programs are recorded whole, whatever surrounds them: ignored signals, limits, files that a shell
has opened, stacks with little room, another malloc in front of the recorder."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.catalog import PROFILER, RECORDER, native_part
from heapwise.trace import Kind, open_trace
from heapwise.trace.contents import read_contents

DATA = Path(__file__).resolve().parents[2] / "data" / "recorded"
MIB = 1 << 20


def compiled(source: Path, folder: Path, *flags: str) -> Path:
    program = folder / source.stem
    command = ["cc", "-O1", "-fno-builtin", "-pthread", str(source), "-o", str(program), *flags]
    subprocess.run(command, check=True, capture_output=True)
    return program


def heapwise_record(
    trace: Path, *words: str | Path, before: Callable[[], object] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "heapwise", "record", "--quiet", "-o", trace, *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        preexec_fn=before,
        check=False,
    )


def blocks_recorded(trace: Path) -> int:
    with open_trace(trace) as opened:
        assert not opened.damage
        return read_contents(opened).calls[Kind.MALLOC]


def test_the_exit_code_arrives_if_the_ends_of_children_are_ignored(tmp_path: Path) -> None:
    """Those who started the command may ignore them, which processes inherit."""
    done = heapwise_record(
        tmp_path / "t.hwt",
        *("--", "sh", "-c", "exit 7"),
        before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert done.returncode == 7, done.stderr


@pytest.mark.parametrize("mib", [24, 100, 2000])
def test_a_limit_of_file_sizes_leaves_room_for_some_threads(
    known: Path, tmp_path: Path, mib: int
) -> None:
    """The memory that is shared with the program is a file, too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if before[1] != resource.RLIM_INFINITY:
        pytest.skip("file sizes are limited here")
    limit = (mib * MIB, mib * MIB)
    trace = tmp_path / "t.hwt"
    done = heapwise_record(
        trace,
        *("--max-size", "8M", "--", known, "calls"),
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == 0, done.stderr
    assert blocks_recorded(trace) >= 3


def test_a_limit_of_file_sizes_that_leaves_no_room_is_named(known: Path, tmp_path: Path) -> None:
    limit = (10 << 10, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    done = heapwise_record(
        tmp_path / "t.hwt",
        *("--", known, "calls"),
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == 5
    assert "raise the limit of file sizes, now 10 KiB: ulimit -f unlimited" in done.stderr


def test_files_that_a_shell_opens_for_the_program_arrive(tmp_path: Path) -> None:
    record = f"{sys.executable} -m heapwise record --quiet -o {tmp_path / 't.hwt'} --"
    for reads in ("cat <(echo arrived)", "sh -c 'cat <&8' 8<<<arrived"):
        done = subprocess.run(
            ["bash", "-c", f"{record} {reads}"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "arrived\n"), done.stderr


def test_arguments_may_be_bytes_that_are_not_text(tmp_path: Path) -> None:
    """Names of files may be. The trace has them as JSON can hold them."""
    trace = tmp_path / "t.hwt"
    done = heapwise_record(trace, "--", "printf", "%s", os.fsdecode(b"\xff"))
    assert done.returncode == 0, done.stderr
    with open_trace(trace) as opened:
        assert opened.about["command"] == ["printf", "%s", "\\udcff"]


@pytest.mark.parametrize("name", [b"\xff\xfework", b"w\xf6rk", b"w\xc3\xb6rk"])
def test_functions_of_a_program_have_names_if_its_file_name_is_not_utf_8(
    tmp_path: Path, name: bytes
) -> None:
    folder = tmp_path / os.fsdecode(b"f\xffolder")
    folder.mkdir()
    program = folder / os.fsdecode(name)
    compiled(DATA / "coroutine_end.c", tmp_path).rename(program)
    trace = tmp_path / "t.hwt"
    assert heapwise_record(trace, "--", program).returncode == 0
    said = subprocess.run(
        [sys.executable, "-m", "heapwise", "trace", trace], capture_output=True, check=False
    )
    assert b"is not there any more" not in said.stdout
    assert b"coroutine_end.c" in said.stdout or b" allocate" in said.stdout, said.stdout


@pytest.mark.parametrize("kind", ["alternate", "thread", "coroutine"])
@pytest.mark.parametrize("options", [[], ["--stacks", "all"], ["--profile"]], ids=str)
def test_a_small_stack_has_room_for_the_recorder(
    tmp_path: Path, kind: str, options: list[str]
) -> None:
    """glibc's malloc needs less than 1 KiB. The alternate stack has the size that POSIX once gave,
    of which the frame of a signal takes 3 KiB on processors with wide registers."""
    program = compiled(DATA / "small_stacks.c", tmp_path, "-Wl,-z,now")
    done = heapwise_record(tmp_path / "t.hwt", *options, "--", program, kind)
    assert (done.returncode, done.stdout) == (0, "allocated\n"), done.stderr


@pytest.mark.parametrize(
    "options", [[], ["--stacks", "all"], ["--stacks", "all:frames"], ["--profile"]], ids=str
)
@pytest.mark.parametrize(
    "surroundings", [[], ["filter"], ["thread"], ["filter", "thread"]], ids=" ".join
)
def test_the_search_for_callers_ends_with_the_stack_of_a_coroutine(
    tmp_path: Path, options: list[str], surroundings: list[str]
) -> None:
    """Its first function returns to any address, and nothing is mapped behind its stack. Under a
    filter of the program's own, the kernel cannot be asked what is mapped."""
    program = compiled(DATA / "coroutine_end.c", tmp_path)
    trace = tmp_path / "t.hwt"
    done = heapwise_record(trace, *options, "--", program, *surroundings)
    assert (done.returncode, done.stdout) == (0, "allocated\n"), done.stderr
    assert blocks_recorded(trace) >= 1


@pytest.mark.parametrize("library", [RECORDER, PROFILER])
def test_a_realloc_in_front_is_that_of_reallocarray(tmp_path: Path, library: str) -> None:
    """glibc's calls the first realloc. A library in front has no reallocarray, as few have."""
    front = compiled(DATA / "front.c", tmp_path, "-shared", "-fPIC")
    program = compiled(DATA / "resizes.c", tmp_path)
    done = heapwise_record(
        tmp_path / "t.hwt",
        *(["--profile"] if library == PROFILER else []),
        *("--force", "--", "env", f"LD_PRELOAD={front}:{native_part(library)}", program),
    )
    assert (done.returncode, done.stdout) == (0, "resized\n"), done.stderr


def test_a_command_is_longer_than_one_argument_may_be(tmp_path: Path) -> None:
    """The kernel limits one argument to 128 KiB, and all of them together to 2 MiB."""
    words = [f"\x01{number}" for number in range(100_000, 130_000)]
    done = heapwise_record(tmp_path / "t.hwt", "--", "/bin/true", *words)
    assert done.returncode == 0, done.stderr
    with open_trace(tmp_path / "t.hwt") as trace:
        command = trace.command
    assert command[0] == "/bin/true"
    assert command[1:-1] == words[: len(command) - 2]
    assert command[-1] == "…"
