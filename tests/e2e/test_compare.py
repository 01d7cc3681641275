"""``compare`` on real processes: what it proves, and what it does when a program misbehaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from planned import planned_processes, planned_samples

from heapwise.catalog import installed_peers
from heapwise.store import read_run, run_ids

pytestmark = pytest.mark.usefixtures("built_native")

UNDER_JEMALLOC = 'case "$LD_PRELOAD" in *jemalloc*) {} ;; *) echo same ;; esac'


@pytest.fixture(autouse=True)
def _needs_jemalloc() -> None:
    if "jemalloc" not in {peer.name for peer in installed_peers()}:
        pytest.fail("these tests compare with jemalloc: install libjemalloc2")


def stored_run(tmp_path: Path) -> Any:
    store = tmp_path / "store"
    return read_run(store, run_ids(store)[-1])


def compare(heapwise: Any, *words: str, **options: Any) -> Any:
    return heapwise("compare", "--allocators", "jemalloc,glibc", *words, **options)


def test_result_table_advice_trust_and_hint(
    heapwise: Any, assert_went_well: Any, tmp_path: Path
) -> None:
    done = compare(heapwise, "--runs", "6", "--", "/bin/echo", "a b", "--help", "--json")
    assert_went_well(done)
    for word in (
        "Checking",
        "Allocators",
        "Machine",
        "Plan",
        "Advice",
        "Trust",
        "Saved",
        "peak memory",
        "glibc",
        "jemalloc",
    ):
        assert word in done.stdout
    assert "\033" not in done.stdout + done.stderr
    stored = stored_run(tmp_path)
    assert stored.run.plan.command[1:] == ["a b", "--help", "--json"]
    assert stored.run.state == "complete"
    assert stored.run.machine_after is not None
    assert f"run {stored.run.id}" in done.stdout


def test_samples_pair_up_and_identity_is_proven(heapwise: Any, tmp_path: Path) -> None:
    done = compare(heapwise, "--runs", "6", "--json", "--", "/bin/echo", "hello")
    result = json.loads(done.stdout)
    checks = {c["id"]: c["verdict"] for c in result["trust"]["checks"]}
    assert checks["V1"] == "pass"
    assert checks["V2"] == "pass"
    assert checks["V8"] == "pass"
    assert checks["V11"] == "pass"
    assert checks["V14"] in ("pass", "unavailable")
    assert checks["V20"] == "pass"
    stored = stored_run(tmp_path)
    counted = [s for s in planned_samples(stored) if not s.warm_up]
    assert sorted((s.round, s.subject) for s in counted) == sorted(
        (r, s) for r in range(1, 7) for s in ("glibc", "glibc-control", "jemalloc")
    )
    for sample in stored.samples:
        assert sample.values["wall_time"] > 0
        assert sample.values["peak_memory"] > 100_000
    preloaded = [p for p in stored.processes if p.subject == "jemalloc" and not p.facts.counting]
    assert all("libjemalloc" in p.identity[0].malloc.path for p in preloaded)
    counting = [p for p in stored.processes if p.facts.counting]
    assert sorted(p.subject for p in counting) == ["glibc", "glibc-control", "jemalloc"]
    assert min(p.facts.calls.malloc for p in counting) > 0
    [check] = [c for c in result["trust"]["checks"] if c["id"] == "V8"]
    assert "under each of 2 allocators" in check["detail"]


def test_the_noise_of_a_quiet_stop_rule_ends_by_time(
    heapwise: Any, assert_went_well: Any, tmp_path: Path
) -> None:
    done = compare(heapwise, "--time", "1s", "--precision", "0.0001", "--", "/bin/true")
    assert_went_well(done)
    rounds = {p.round for p in stored_run(tmp_path).processes if not p.warm_up}
    assert len(rounds) >= 1


def test_a_peer_that_the_loader_refuses_is_the_wrong_allocator(
    heapwise: Any, tmp_path: Path
) -> None:
    """V1: the loader ignores it and goes on, which must never become a row of figures."""
    fake = tmp_path / "libfake.so"
    library = bytearray(next(Path("/usr/lib").glob("*/libz.so.1")).read_bytes())
    library[7] = 0x40  # another system's ABI
    fake.write_bytes(library)
    done = heapwise(
        "compare",
        "--strict",
        "--runs",
        "4",
        "--allocator",
        f"fake={fake}",
        "--allocators",
        "glibc",
        "--json",
        "--",
        "/bin/echo",
    )
    stored = stored_run(tmp_path)
    of_fake = [p for p in stored.processes if p.subject == "fake"]
    assert [p.status for p in of_fake] == ["wrong_allocator"] * 3
    assert "cannot be preloaded" in of_fake[0].reason
    assert done.returncode == 4, done.stderr
    result = json.loads(done.stdout)
    checks = {c["id"]: c["verdict"] for c in result["trust"]["checks"]}
    assert checks["V1"] == "fail"
    assert all(row["median"] is None for row in result["rows"] if row["subject"] == "fake")


def test_a_library_without_malloc_is_the_wrong_allocator(heapwise: Any, tmp_path: Path) -> None:
    """It can be preloaded, but malloc still comes from the C library."""
    zlib = next(Path("/usr/lib").glob("*/libz.so.1"))
    done = heapwise(
        "compare",
        "--strict",
        "--runs",
        "1",
        "--allocator",
        f"zlib={zlib}",
        "--allocators",
        "glibc",
        "--",
        "/bin/echo",
    )
    found = {p.subject: p for p in stored_run(tmp_path).processes}
    assert found["zlib"].status == "wrong_allocator"
    assert "libc.so.6" in found["zlib"].reason
    assert done.returncode == 4


def test_a_crash_under_one_allocator_is_its_row_and_exit_3(heapwise: Any, tmp_path: Path) -> None:
    script = UNDER_JEMALLOC.format("echo alas >&2; kill -SEGV $$")
    done = compare(heapwise, "--runs", "6", "--", "/bin/sh", "-c", script)
    assert done.returncode == 3
    stored = stored_run(tmp_path)
    of_jemalloc = [p for p in stored.processes if p.subject == "jemalloc"]
    assert [p.status for p in of_jemalloc] == ["crashed"] * 3
    assert "alas" in of_jemalloc[0].facts.stderr_tail
    planned = planned_processes(stored)
    assert sum(p.subject == "glibc" and not p.warm_up for p in planned) == 6
    assert "3 of 3 times: crashed (SIGSEGV)" in done.stderr
    assert "alas" in done.stderr


def test_other_output_under_one_allocator_is_exit_3(heapwise: Any, tmp_path: Path) -> None:
    """V8."""
    script = UNDER_JEMALLOC.format("echo other")
    done = compare(heapwise, "--runs", "3", "--json", "--", "/bin/sh", "-c", script)
    assert done.returncode == 3
    statuses = {p.status for p in stored_run(tmp_path).processes if p.subject == "jemalloc"}
    assert statuses == {"output_differs"}
    rows = [r for r in json.loads(done.stdout)["rows"] if r["subject"] == "jemalloc"]
    assert all(row["median"] is None for row in rows)


def test_other_exit_code_under_one_allocator_is_exit_3(heapwise: Any, tmp_path: Path) -> None:
    done = compare(
        heapwise, "--runs", "2", "--", "/bin/sh", "-c", UNDER_JEMALLOC.format("echo same; exit 9")
    )
    found = next(p for p in stored_run(tmp_path).processes if p.subject == "jemalloc")
    assert (found.status, found.reason) == ("failed", "exit code 9 instead of 0")
    assert done.returncode == 3


def test_ignored_output_may_differ(heapwise: Any, tmp_path: Path) -> None:
    done = compare(heapwise, "--runs", "1", "--ignore-output", "--", "/bin/sh", "-c", "echo $$")
    assert done.returncode == 0, done.stderr
    assert {p.status for p in stored_run(tmp_path).processes} == {"ok"}


def test_input_and_output_of_any_size(heapwise: Any, tmp_path: Path) -> None:
    """A program that prints 200 MB is hashed, not kept."""
    data = tmp_path / "data"
    data.write_bytes(b"0123456789abcdef" * 1024)
    done = compare(
        heapwise,
        "--runs",
        "1",
        "--warmup",
        "0",
        "--input",
        str(data),
        "--",
        "/bin/sh",
        "-c",
        "cat; head -c 200000000 /dev/zero",
    )
    assert done.returncode == 0, done.stderr
    stored = stored_run(tmp_path)
    sizes = {p.facts.output_bytes for p in stored.processes}
    assert sizes == {200_000_000 + 16 * 1024}
    assert sum(f.stat().st_size for f in stored.path.iterdir()) < 1_000_000


def test_allocators_of_the_environment_are_left_out_and_said(heapwise: Any, tmp_path: Path) -> None:
    """V20."""
    env = {"MALLOC_ARENA_MAX": "1", "MIMALLOC_VERBOSE": "0", "LD_BIND_NOT": "1", "MY_TOKEN": "hush"}
    done = compare(
        heapwise,
        "--runs",
        "1",
        "--",
        "/bin/sh",
        "-c",
        'echo "${MALLOC_ARENA_MAX-none} $MY_TOKEN"',
        env=env,
    )
    assert "left out: LD_BIND_NOT, MALLOC_ARENA_MAX, MIMALLOC_VERBOSE" in done.stdout
    stored = stored_run(tmp_path)
    assert not {"MALLOC_ARENA_MAX", "LD_BIND_NOT"} & set(stored.run.plan.environment)
    assert "hush" not in (stored.path / "run.json").read_text()
    hashes = {p.facts.output_hash for p in stored.processes if not p.facts.counting}
    done = compare(
        heapwise,
        "--runs",
        "1",
        "--keep-env",
        "--json",
        "--",
        "/bin/sh",
        "-c",
        'echo "${MALLOC_ARENA_MAX-none} $MY_TOKEN"',
        env=env | {"LD_BIND_NOT": ""},
    )
    kept = stored_run(tmp_path)
    assert kept.run.plan.environment["MALLOC_ARENA_MAX"] == "1"
    assert {p.facts.output_hash for p in kept.processes if not p.facts.counting} != hashes
    checks = {c["id"]: c["verdict"] for c in json.loads(done.stdout)["trust"]["checks"]}
    assert checks["V20"] == "warn"


def test_libraries_of_the_program_are_found_where_its_user_put_them(
    heapwise: Any, tmp_path: Path
) -> None:
    """Both by a path of the environment alone, and before an older library of the program's own."""
    for name, value in (("old", 1), ("new", 2)):
        (tmp_path / name).mkdir()
        source = tmp_path / f"{name}.c"
        source.write_text(f"int version(void) {{ return {value}; }}\n")
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-o", f"{name}/libwork.so", source],
            check=True,
            cwd=tmp_path,
        )
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint version(void);\n"
        'int main(void) { char* p = __builtin_malloc(9); printf("%d\\n", version() + !p); }\n'
    )
    subprocess.run(
        [
            "gcc",
            "-o",
            "main",
            "main.c",
            "-Lold",
            "-lwork",
            "-Wl,--enable-new-dtags,-rpath,$ORIGIN/old",
        ],
        check=True,
        cwd=tmp_path,
    )
    done = compare(
        heapwise,
        "--runs",
        "1",
        "--json",
        "--",
        str(tmp_path / "main"),
        env={"LD_LIBRARY_PATH": str(tmp_path / "new")},
    )
    assert done.returncode in (0, 4), done.stderr
    checks = {c["id"]: c for c in json.loads(done.stdout)["trust"]["checks"]}
    assert f"looked for libraries in {tmp_path / 'new'} first" in checks["V20"]["detail"]
    assert f"{tmp_path / 'new'} first (LD_LIBRARY_PATH)" in done.stderr + done.stdout
    printed = {p.facts.output_hash for p in stored_run(tmp_path).processes if not p.facts.counting}
    (tmp_path / "two").write_text("#!/bin/sh\necho 2\n")
    (tmp_path / "two").chmod(0o755)
    compare(heapwise, "--runs", "1", "--", str(tmp_path / "two"))
    assert printed == {
        p.facts.output_hash for p in stored_run(tmp_path).processes if not p.facts.counting
    }


def test_every_process_has_its_own_padding(heapwise: Any, tmp_path: Path) -> None:
    log = tmp_path / "lengths"
    compare(heapwise, "--runs", "3", "--", "/bin/sh", "-c", f"echo ${{#HEAPWISE_PAD}} >> {log}")
    lengths = log.read_text().split()
    assert len(lengths) == len(stored_run(tmp_path).processes)
    assert len(planned_processes(stored_run(tmp_path))) == 3 * 4
    assert len(set(lengths)) > 6


def test_a_chosen_processor_is_read_back(heapwise: Any, tmp_path: Path) -> None:
    """V11."""
    done = compare(heapwise, "--runs", "1", "--cpus", "0", "--json", "--", "/bin/true")
    assert {tuple(p.facts.affinity) for p in stored_run(tmp_path).processes} == {(0,)}
    checks = {c["id"]: c["verdict"] for c in json.loads(done.stdout)["trust"]["checks"]}
    assert checks["V11"] == "pass"


def test_another_baseline(heapwise: Any, tmp_path: Path) -> None:
    done = compare(heapwise, "--runs", "1", "--baseline", "jemalloc", "--", "/bin/true")
    assert done.returncode == 0, done.stderr
    baselines = {s.name for s in stored_run(tmp_path).run.plan.subjects if s.baseline}
    assert baselines == {"jemalloc"}
    assert "jemalloc 5" in done.stdout
    assert "vs jemalloc" in done.stdout


def test_a_script_is_followed_to_its_interpreter(heapwise: Any, tmp_path: Path) -> None:
    script = tmp_path / "job"
    script.write_text("#!/usr/bin/env sh\necho from a script\n")
    script.chmod(0o755)
    done = compare(heapwise, "--runs", "1", "--", "./job")
    assert done.returncode == 0, done.stderr
    assert "script run by" in done.stdout


def test_children_with_another_allocator_are_found(heapwise: Any, tmp_path: Path) -> None:
    """V1 looks into every exec'd process: one that drops LD_PRELOAD leaves no line, one that
    changes it is the wrong allocator."""
    done = compare(
        heapwise,
        "--strict",
        "--runs",
        "1",
        "--",
        "/bin/sh",
        "-c",
        'case "$LD_PRELOAD" in *jemalloc*) export LD_PRELOAD="${LD_PRELOAD#*:}";; esac;'
        " /bin/echo same",
    )
    found = {p.subject: p for p in stored_run(tmp_path).processes}
    assert found["jemalloc"].status == "wrong_allocator"
    assert "echo" in found["jemalloc"].reason
    assert found["glibc"].status == "ok"
    assert done.returncode == 4


OWN_MALLOC = """
#include <stddef.h>
static char memory[1 << 20]; static size_t used;
void* malloc(size_t size) { void* p = memory + used; used += (size + 15) & ~15ul; return p; }
void free(void* p) { (void)p; }
int main(void) { return malloc(10) == 0; }
"""


def test_a_child_with_an_allocator_of_its_own_is_named_and_resumed(
    heapwise: Any, tmp_path: Path
) -> None:
    (tmp_path / "own.c").write_text(OWN_MALLOC)
    own = tmp_path / "own"
    subprocess.run(["cc", "-fno-builtin", "-rdynamic", "-o", own, tmp_path / "own.c"], check=True)
    done = compare(heapwise, "--runs", "1", "--json", "--", "/bin/sh", "-c", f"{own}; echo same")
    assert done.returncode == 0, done.stdout + done.stderr
    [check] = [c for c in json.loads(done.stdout)["trust"]["checks"] if c["id"] == "V1"]
    assert check["verdict"] == "warn"
    assert str(own) in check["detail"]
    again = heapwise("resume", "--runs", "2")
    assert again.returncode in (0, 4), again.stderr
    assert {p.status for p in stored_run(tmp_path).processes} == {"ok"}


def test_quiet_and_no_terminal(heapwise: Any) -> None:
    done = compare(heapwise, "--runs", "1", "--quiet", "--", "/bin/true")
    assert "Checking" not in done.stdout
    assert "Advice" in done.stdout
    assert done.stderr == ""
    forced = compare(heapwise, "--runs", "1", "--", "/nowhere/at/all", env={"FORCE_COLOR": "1"})
    assert "\033[31merror" in forced.stderr
    plain = compare(heapwise, "--", "/nowhere/at/all", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\033" not in plain.stderr


def test_python_startup_is_the_program(heapwise: Any, tmp_path: Path) -> None:
    done = compare(heapwise, "--runs", "1", "--", sys.executable, "-S", "-c", "print(6 * 7)")
    assert done.returncode == 0, done.stdout + done.stderr
