"""The heap profile that a living process writes, read by pprof's and by our own reader."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from heapwise.trace.heap_profile import HeapProfile, read_heap_profile

PREFIX = "HEAPWISE_MALLOC_PROFILE"
EVERY = 65_536
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _ours(heap: Any) -> None:
    if not heap.is_ours or "guarded" in heap.name or "hardened" in heap.name:
        pytest.skip("only the profiles default and fast tell what is alive")


def sampled(folder: Path, every: int = EVERY) -> dict[str, str]:
    return {
        f"{PREFIX}_EVERY": str(every),
        PREFIX: str(folder / "heap"),
        f"{PREFIX}_SIGNAL": str(int(signal.SIGUSR2)),
    }


def bytes_in_use(profile: HeapProfile) -> int:
    column = profile.column("inuse_space")
    assert column is not None
    return profile.totals()[column]


def bytes_of_functions(program: Path, profile: HeapProfile) -> dict[str, int]:
    """Bytes of each function of the program and of all that it called. Requires: no position-
    independent program, so that its symbols are addresses."""
    lines = subprocess.check_output(["nm", "-S", "--defined-only", program], text=True).splitlines()
    symbols = [line.split() for line in lines if len(line.split()) == 4]
    functions = {name: (int(at, 16), int(size, 16)) for at, size, _, name in symbols}
    column = profile.column("inuse_space")
    assert column is not None
    sums = dict.fromkeys(functions, 0)
    for name, (begin, size) in functions.items():
        for stack in profile.stacks:
            if any(begin <= place.offset < begin + size for place in stack.places):
                sums[name] += stack.values[column]
    return sums


def test_threads_and_a_forked_child_tell_what_they_hold(
    heap: Any, compiled: Any, tmp_path: Path
) -> None:
    program = compiled(Path(__file__).parent / "grows.cpp", "-no-pie", str(heap.library))
    called = tmp_path / "called.pb"
    done = heap.run(program, called, **sampled(tmp_path))
    assert (done.status, done.err) == (0, "")
    parent, child = (next(tmp_path.glob(f"heap.{each}.*.pb")) for each in done.out.decode().split())
    assert bytes_in_use(read_heap_profile(called)) == bytes_in_use(read_heap_profile(parent))
    before = bytes_of_functions(program, read_heap_profile(parent))
    after = bytes_of_functions(program, read_heap_profile(child))
    # 38.4 MB are 586 samples, five standard deviations 21 %; 40 MB of large blocks vary less.
    assert before["keeps_small_blocks"] == pytest.approx(38.4e6, rel=0.21)
    assert after["keeps_small_blocks"] == pytest.approx(19.2e6, rel=0.3)
    for told in (before, after):
        assert told["keeps_large_blocks"] == pytest.approx(40e6, rel=0.1)
        assert told["frees_at_once"] == 0


@pytest.mark.long
def test_pprof_reads_it(heap: Any, tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go: apt-get install golang-go")
    script = "import os; kept = [bytes(1000) for _ in range(50000)]; os.kill(os.getpid(), 12)"
    done = heap.run("python3", "-c", script, PYTHONMALLOC="malloc", **sampled(tmp_path))
    assert done.status == 0
    file = next(tmp_path.glob("heap.*.pb"))
    command = [go, "tool", "pprof", "-top", "-unit=B", str(file)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout
    total = re.search(r"of (\d+)B total", told)
    assert total is not None, told
    assert int(total[1]) == bytes_in_use(read_heap_profile(file))


def test_a_service_tells_while_it_runs(heap: Any, tmp_path: Path) -> None:
    """Debian's Python, which has no frame pointers."""
    script = (
        "import sys\n"
        "kept = [bytes(1000) for _ in range(100_000)]\n"
        "print('ready', flush=True)\n"
        "print(len(kept), sys.stdin.readline().strip())\n"
    )
    process = subprocess.Popen(
        ["/usr/bin/python3", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=heap.environment(PYTHONMALLOC="malloc", **sampled(tmp_path)),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGUSR2)
    file = tmp_path / f"heap.{process.pid}.1.pb"
    end = time.monotonic() + 60
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert process.communicate("goes on", timeout=60)[0] == "100000 goes on\n"
    assert process.returncode == 0
    profile = read_heap_profile(file)
    assert bytes_in_use(profile) == pytest.approx(110e6, rel=0.2)
    deep = [stack for stack in profile.stacks if len(stack.places) > 5]
    assert len(deep) > len(profile.stacks) / 2


@pytest.mark.parametrize("every", [4096, 524_288])
def test_real_programs_do_the_same_with_a_sample(heap: Any, tmp_path: Path, every: int) -> None:
    query = (
        "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c "
        "where x < 30000) insert into t select x, x * 7919 % 1000003 || 'abc' from c; "
        "create index i on t(b); select sum(a) from t where b like '9%'; pragma integrity_check;"
    )
    commands = [
        ["sqlite3", ":memory:", query],
        ["perl", "-e", "$h{$_} = [$_, $_ . 'x'] for 1..50000; print keys(%h) . $h{77}[1]"],
        [
            "python3",
            "-c",
            "import json; print(json.loads(json.dumps([[i, str(i)] for i in range(50000)]))[-1])",
        ],
        ["sh", "-c", "seq 100000 | sort -r --parallel=2 | md5sum"],
    ]
    for command in commands:
        plain, with_sample = heap.run(*command), heap.run(*command, **sampled(tmp_path, every))
        assert (with_sample.status, with_sample.out) == (0, plain.out), command
        assert with_sample.err == plain.err
