"""The probes inside processes of every kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import NoteSegment

PEERS = {
    "jemalloc": "usr/lib/*/libjemalloc.so.2",
    "mimalloc": "usr/lib/*/libmimalloc.so.2*",
    "tcmalloc": "usr/lib/*/libtcmalloc_minimal.so.4",
    "tbbmalloc": "usr/lib/*/libtbbmalloc_proxy.so.2",
    "scudo": "usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.scudo_standalone-x86_64.so",
}


def library(name: str) -> str:
    found = sorted(Path("/").glob(PEERS[name]))
    if not found:
        pytest.skip(f"{name} is not installed")
    return str(found[0])


def build_id(path: str) -> str:
    with Path(path).open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_NOTE"):
            assert isinstance(segment, NoteSegment)
            for note in segment.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    return str(note["n_desc"])
    return ""


def run_with(
    probe: Path, out: Path, command: list[str], peer: str = "", **more: Any
) -> list[dict[str, Any]]:
    """The lines about processes that the probe wrote while ``command`` ran."""
    first_counts = probe.name.startswith("libheapwise-count")
    preload = ":".join(filter(None, [str(probe), peer] if first_counts else [peer, str(probe)]))
    variable = "HEAPWISE_COUNT_OUT" if first_counts else "HEAPWISE_PROBE_OUT"
    environment = {**os.environ, "LD_PRELOAD": preload, variable: str(out)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, **more)
    assert b"cannot be preloaded" not in done.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    return [line for line in lines if "exe" in line]


@pytest.fixture
def identity(native: Path) -> Path:
    return native / "libheapwise-probe.so"


@pytest.fixture
def count(native: Path) -> Path:
    return native / "libheapwise-count.so"


@pytest.mark.parametrize("peer", PEERS)
def test_identity_names_the_peer(identity: Path, toy: str, tmp_path: Path, peer: str) -> None:
    path = library(peer)
    (line,) = run_with(identity, tmp_path / "out", [toy, "exit", "0"], path)
    assert line["exe"] == toy
    for function in ("malloc", "free"):
        assert line[function] == {"path": path, "build_id": build_id(path)}
    assert line["preload"].startswith(path)
    assert line["affinity"] == sorted(os.sched_getaffinity(0))


def test_identity_without_a_peer_is_libc(identity: Path, toy: str, tmp_path: Path) -> None:
    (line,) = run_with(identity, tmp_path / "out", [toy, "exit", "0"])
    assert "libc.so" in line["malloc"]["path"]
    assert line["malloc"]["build_id"] == build_id(line["malloc"]["path"])


def test_identity_in_a_program_without_cpp(identity: Path, tmp_path: Path) -> None:
    (line,) = run_with(identity, tmp_path / "out", ["/bin/true"])
    assert line["new"] is None


def test_every_process_that_is_started_says_so(identity: Path, toy: str, tmp_path: Path) -> None:
    lines = run_with(identity, tmp_path / "out", ["/bin/sh", "-c", f"{toy} exit 0; {toy} exit 0"])
    assert [Path(line["exe"]).name for line in lines][1:] == ["heapwise-toy"] * 2
    assert len({line["pid"] for line in lines}) == 3


def test_program_that_takes_the_address_of_malloc_is_not_mistaken_for_it(
    identity: Path, tmp_path: Path
) -> None:
    """Such a program, not position independent, gives malloc an address inside itself."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text(
        "#include <stdlib.h>\n#include <stdio.h>\n"
        "void *(*volatile f)(size_t) = malloc;\n"
        'int main(void) { printf("%p\\n", (void *)malloc); return !f(1); }\n'
    )
    subprocess.run([compiler, "-fno-pie", "-no-pie", str(source), "-o", str(program)], check=True)
    (line,) = run_with(identity, tmp_path / "out", [str(program)])
    assert "libc.so" in line["malloc"]["path"]


def test_path_with_strange_bytes_is_still_json(identity: Path, toy: str, tmp_path: Path) -> None:
    copy = tmp_path / os.fsdecode(b'quote" \xff back\\')
    shutil.copy(toy, copy)
    (line,) = run_with(identity, tmp_path / "out", [str(copy), "exit", "0"])
    assert line["exe"].endswith('quote" \ufffd back\\')


def test_nothing_is_written_unless_asked(identity: Path, count: Path, toy: str) -> None:
    for probe in (identity, count):
        done = subprocess.run(
            [toy, "exit", "0"], env={"LD_PRELOAD": str(probe)}, capture_output=True, timeout=120
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_file_that_cannot_be_written_does_not_disturb(
    identity: Path, count: Path, toy: str
) -> None:
    environment = {
        "LD_PRELOAD": f"{count}:{identity}",
        "HEAPWISE_PROBE_OUT": "/nonexistent/x",
        "HEAPWISE_COUNT_OUT": "/nonexistent/y",
    }
    done = subprocess.run([toy, "exit", "7"], env=environment, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (7, b"")


@pytest.mark.parametrize("peer", ["", *PEERS])
@pytest.mark.parametrize(
    ("deed", "calls"),
    [("calls", 5000), ("news", 5000), ("thread-calls", 20000), ("exec-calls", 5000)],
)
def test_counts_are_the_known_ones(
    count: Path, toy: str, tmp_path: Path, peer: str, deed: str, calls: int
) -> None:
    """The loader and the C++ runtime make some calls of their own: few."""
    path = library(peer) if peer else ""
    (line,) = run_with(count, tmp_path / "out", [toy, deed, "5000"], path)
    assert calls <= line["calls"]["malloc"] <= calls + 50
    assert calls <= line["calls"]["free"] <= calls + 50
    assert line["sizes"][6] >= calls
    assert line["bytes_requested"] >= calls * 64


@pytest.mark.parametrize("peer", ["", *PEERS])
def test_live_bytes_are_the_known_ones(count: Path, toy: str, tmp_path: Path, peer: str) -> None:
    """One block of 20 MiB, and some of the start; blocks that are freed at once add up to
    nothing."""
    path = library(peer) if peer else ""
    (line,) = run_with(count, tmp_path / "out", [toy, "touch", "20"], path)
    assert 20 << 20 <= line["peak_live"] < 25 << 20
    for deed in ("calls", "news", "thread-calls"):
        (line,) = run_with(count, tmp_path / deed, [toy, deed, "50000"], path)
        assert line["peak_live"] < 2 << 20, deed


def test_forked_processes_count_their_own(count: Path, toy: str, tmp_path: Path) -> None:
    lines = run_with(count, tmp_path / "out", [toy, "fork-calls", "5000"])
    assert len(lines) == 2
    assert len({line["pid"] for line in lines}) == 2
    for line in lines:
        assert 5000 <= line["calls"]["malloc"] <= 5050


def test_leaving_by_underscore_exit_is_counted(count: Path, toy: str, tmp_path: Path) -> None:
    (line,) = run_with(count, tmp_path / "out", [toy, "leave-at-once", "0"])
    assert 10 <= line["calls"]["malloc"] <= 60


@pytest.mark.parametrize(
    "command",
    [
        ["/bin/sh", "-c", "ls / | sort | head -2; (true); exit 0"],
        [
            "/usr/bin/env",
            "python3",
            "-c",
            "import subprocess, threading; subprocess.run(['true']);"
            "t = threading.Thread(target=lambda: [object() for _ in range(9)]);"
            "t.start(); t.join()",
        ],
        ["/usr/bin/env", "python3", "-c", "import os; os._exit(4)"],
    ],
)
@pytest.mark.parametrize("peer", ["", "jemalloc", "tcmalloc"])
def test_real_programs_survive_being_counted(
    count: Path, tmp_path: Path, command: list[str], peer: str
) -> None:
    plain = subprocess.run(command, capture_output=True, timeout=120)
    path = library(peer) if peer else ""
    environment = {
        **os.environ,
        "LD_PRELOAD": ":".join(filter(None, [str(count), path])),
        "HEAPWISE_COUNT_OUT": str(tmp_path / "out"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert any(sum(line["calls"].values()) > 0 for line in lines)


def test_probes_need_no_cpp_runtime(identity: Path, count: Path) -> None:
    for probe in (identity, count):
        with probe.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".dynamic")
            assert isinstance(section, DynamicSection)
            needed = [vars(tag)["needed"] for tag in section.iter_tags("DT_NEEDED")]
        assert all(name.startswith(("libc.so", "ld-linux", "libgcc_s")) for name in needed)
        assert not any(name.startswith("libstdc++") for name in needed)
