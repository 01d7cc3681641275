"""The launcher against programs that behave in every way a program can."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20
KEYS = {
    "schema",
    "start_ns",
    "end_ns",
    "wall_s",
    "user_s",
    "system_s",
    "peak_rss_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "exit_code",
    "signal",
    "signal_name",
    "timed_out",
    "stop_signal",
    "output_bytes",
    "output_hash",
    "error_bytes",
    "written_elsewhere_bytes",
    "changed_names",
    "affinity",
    "slice_ns",
    "spin_before_ns",
    "spin_after_ns",
    "steal_ticks",
    "psi_cpu_us",
    "launcher_rss_bytes",
    "start_error",
    "lingering",
    "stopped_by",
    "probe",
    "processors",
    "throttled_periods",
    "throttled_us",
    "counters",
    "counters_missing",
    "late_s",
    "late_cpu_s",
    "late_output_bytes",
    "memory",
    "group",
    "group_missing",
}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether it ends within a minute."""
    for _ in range(1200):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_result_has_every_key(launch: Any, toy: str) -> None:
    assert set(launch(toy, "exit", "0")) == KEYS


def test_exit_code_is_the_programs(launch: Any, toy: str) -> None:
    result = launch(toy, "exit", "3")
    assert (result["exit_code"], result["signal"], result["timed_out"]) == (3, None, False)


def test_exit_code_arrives_if_the_ends_of_children_are_ignored(
    native: Path, tmp_path: Path
) -> None:
    """Those who started the launcher may ignore them, which processes inherit."""
    result = tmp_path / "result.json"
    subprocess.run(
        [str(native / "heapwise-launch"), "--result", str(result), "--", "sh", "-c", "exit 7"],
        timeout=60,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert json.loads(result.read_text())["exit_code"] == 7


def test_exit_code_arrives_in_a_sandbox_without_signalfd(native: Path, tmp_path: Path) -> None:
    deny = tmp_path / "deny"
    source = Path(__file__).parents[2] / "preload" / "faults" / "deny.c"
    subprocess.run(["gcc", "-O1", f"-I{source.parent}", source, "-o", deny], check=True)
    signalfd4 = {"x86_64": 289, "aarch64": 74}[os.uname().machine]
    result = tmp_path / "result.json"
    launch = [str(native / "heapwise-launch"), "--result", str(result), "--", "/bin/sh", "-c"]
    subprocess.run(
        [str(deny), "1", str(signalfd4), "--", *launch, "exit 7"], timeout=60, check=True
    )
    assert json.loads(result.read_text())["exit_code"] == 7


def test_crash_is_named(launch: Any, toy: str) -> None:
    result = launch(toy, "crash")
    assert (result["exit_code"], result["signal"], result["signal_name"]) == (None, 11, "SIGSEGV")


def test_missing_program_is_an_error_not_an_exit_code(launch: Any) -> None:
    result = launch("/nonexistent/program")
    assert result["start_error"] == "No such file or directory"
    assert result["exit_code"] is None
    assert result["signal"] is None


def test_file_that_may_not_be_executed(launch: Any, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no program")
    assert launch(str(tmp_path / "data"))["start_error"] == "Permission denied"


def test_folder_that_does_not_exist(launch: Any, toy: str) -> None:
    result = launch(toy, "exit", "0", options=["--directory", "/nonexistent"])
    assert result["start_error"] == "No such file or directory"


def test_directory_is_entered(launch: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    launch("/bin/pwd", options=["--directory", "/usr", "--stdout", str(out)])
    assert out.read_text() == "/usr\n"


def test_timeout_ends_a_program_that_hangs(launch: Any, toy: str) -> None:
    result = launch(toy, "hang", options=["--timeout", "0.2"])
    assert result["timed_out"]
    assert result["signal_name"] == "SIGTERM"
    assert result["wall_s"] >= 0.2


def test_timeout_ends_a_program_that_ignores_sigterm(launch: Any, toy: str) -> None:
    """On a busy machine the time may be up before it does ignore the signal: then there is more."""
    for limit_s in ("0.2", "2", "10"):
        result = launch(toy, "ignore-term", options=["--timeout", limit_s])
        assert result["timed_out"]
        if result["signal_name"] != "SIGTERM":
            break
    assert result["signal_name"] == "SIGKILL"
    assert result["wall_s"] >= 2.2


@pytest.mark.parametrize("name", ["STOP", "TSTP", "TTIN", "TTOU"])
def test_program_that_is_stopped_is_ended_and_named(launch: Any, name: str) -> None:
    result = launch("/bin/sh", "-c", f"kill -{name} $$; exec sleep 50")
    assert result["stop_signal"] == f"SIG{name}"
    assert not result["timed_out"]
    assert result["signal_name"] == "SIGTERM"


def test_child_that_is_stopped_is_the_programs_own_business(launch: Any) -> None:
    script = """
sh -c 'kill -STOP $$' &
until grep -q '^State:.T' /proc/$!/status; do sleep 0.02; done
sleep 0.2
kill -CONT $!
wait
"""
    result = launch("/bin/sh", "-c", script)
    assert (result["stop_signal"], result["exit_code"]) == (None, 0)


def test_program_that_reads_the_terminal_is_ended(native: Path, tmp_path: Path) -> None:
    master, slave = os.openpty()
    result = tmp_path / "result"
    with subprocess.Popen(
        [
            str(native / "heapwise-launch"),
            "--result",
            str(result),
            "--timeout",
            "60",
            "--",
            "/bin/sh",
            "-c",
            "read word </dev/tty",
        ],
        preexec_fn=lambda: os.login_tty(slave),
    ) as launcher:
        os.close(slave)
        launcher.wait(timeout=90)
    os.close(master)
    assert json.loads(result.read_text())["stop_signal"] == "SIGTTIN"


@pytest.mark.parametrize("how", ["linger", "linger-apart"])
def test_processes_that_a_program_leaves_behind_are_killed(launch: Any, toy: str, how: str) -> None:
    result = launch(toy, how)
    assert result["exit_code"] == 0
    assert result["lingering"] == 1
    assert launch(toy, "exit", "0")["lingering"] == 0
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _command(p) == [toy, how]]
    assert left == []


def test_work_after_the_end_is_marked(launch: Any, toy: str) -> None:
    """It is waited for, so output and processor time are whole; but no time of it is measured."""
    for _ in range(20):  # a busy machine may not let it end in the time that it has
        result = launch(toy, "trail", "20")
        if not result["lingering"]:
            break
    assert (result["lingering"], result["output_bytes"], result["late_output_bytes"]) == (0, 6, 6)
    assert result["late_s"] > 0
    assert 0 < result["late_cpu_s"] <= result["user_s"] + result["system_s"]


@pytest.mark.parametrize("deed", [["print", "3"], ["fork-calls", "10"], ["spin", "20"]])
def test_work_before_the_end_is_not_late(launch: Any, toy: str, deed: list[str]) -> None:
    result = launch(toy, *deed)
    assert (result["late_s"], result["late_cpu_s"], result["late_output_bytes"]) == (0, 0, 0)


def test_work_that_is_killed_is_late_too(launch: Any, toy: str) -> None:
    for _ in range(20):  # on a busy machine it may be killed before it runs
        result = launch("/bin/sh", "-c", f"({toy} spin 60000; echo never) & echo now")
        if result["late_cpu_s"]:
            break
    # The shell may collect its killed child before it dies itself: then the kernel shows us one.
    assert result["lingering"] in (1, 2)
    assert (result["output_bytes"], result["late_output_bytes"]) == (4, 0)
    assert result["late_s"] >= 0.2
    assert result["late_cpu_s"] > 0


def _command(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode().split("\0")[:-1]
    except OSError:
        return []


def test_gigabyte_of_output_is_counted_hashed_and_not_kept(
    launch: Any, toy: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = launch(toy, "print", "1024", options=["--stdout", str(out)])
    assert first["output_bytes"] == 1024 * MIB
    assert first["exit_code"] == 0
    text = out.read_bytes()
    assert 128 * 1024 < len(text) < 129 * 1024
    assert f"[... {1024 * MIB - 128 * 1024} bytes left out ...]".encode() in text
    assert first["launcher_rss_bytes"] < 8 * MIB
    assert launch(toy, "print", "1024")["output_hash"] == first["output_hash"]
    assert launch(toy, "print", "1023")["output_hash"] != first["output_hash"]


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 131071, 131072, 131073, 400_000])
def test_both_ends_of_the_output_are_kept(launch: Any, toy: str, tmp_path: Path, size: int) -> None:
    stdin, out = tmp_path / "given", tmp_path / "out"
    content = b"".join(b"%07d\n" % i for i in range(size // 8 + 1))[:size]
    stdin.write_bytes(content)
    result = launch(toy, "copy", options=["--stdin", str(stdin), "--stdout", str(out)])
    assert result["output_bytes"] == size
    kept = out.read_bytes()
    if size <= 131072:
        assert kept == content
    else:
        assert kept.startswith(content[:65536] + b"\n[... ")
        assert kept.endswith(b" left out ...]\n" + content[-65536:])


def test_stdin_is_empty_unless_given(launch: Any, toy: str) -> None:
    result = launch(toy, "copy")
    assert result["exit_code"] == 0
    assert result["output_bytes"] == 0


def test_stderr_is_kept_apart(launch: Any, tmp_path: Path) -> None:
    err = tmp_path / "err"
    result = launch("/bin/sh", "-c", "echo out; echo oops >&2", options=["--stderr", str(err)])
    assert (result["output_bytes"], result["error_bytes"]) == (4, 5)
    assert err.read_text() == "oops\n"


@pytest.mark.parametrize(
    ("script", "least", "most"),
    [
        ("echo out; echo oops >&2", 0, 0),
        ("touch {file}", 0, 0),
        ("echo to a file > {file}", 10, 10),
        ("for i in 1 2 3; do sh -c 'echo $PPID' >> {file}; done", 6, 60),
        ("sh -c 'echo to a pipe' | cat", 10, 10),
        ("(sleep 0.05; echo late > {file}) &", 5, 5),
    ],
)
@pytest.mark.parametrize("folder", ["/dev/shm", ""])
def test_bytes_written_elsewhere_are_counted(
    launch: Any, tmp_path: Path, folder: str, script: str, least: int, most: int
) -> None:
    file = Path(folder or tmp_path) / f"written-{os.getpid()}"
    try:
        result = launch("/bin/sh", "-c", script.format(file=file))
    finally:
        file.unlink(missing_ok=True)
    assert least <= result["written_elsewhere_bytes"] <= most


def test_bytes_of_a_mapped_file_count_as_written_elsewhere(launch: Any, tmp_path: Path) -> None:
    file = tmp_path / "mapped"
    file.write_bytes(b"")
    change = (
        "import mmap, sys\n"
        "with open(sys.argv[1], 'r+b') as file:\n"
        "    file.truncate(4 << 20)\n"
        "    with mmap.mmap(file.fileno(), 4 << 20) as pages:\n"
        "        pages[:] = b'x' * (4 << 20)\n"
        "sys.stdout.write('y' * (8 << 20))\n"
    )
    result = launch(sys.executable, "-c", change, str(file))
    assert result["written_elsewhere_bytes"] >= 3 * MIB


def test_affinity_is_applied_and_read_back(launch: Any, toy: str) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    assert launch(toy, "exit", "0")["affinity"] == allowed
    pinned = launch(toy, "exit", "0", options=["--cpus", str(allowed[-1])])
    assert pinned["affinity"] == [allowed[-1]]


def test_a_slice_of_the_processor_is_asked_for(launch: Any, toy: str) -> None:
    result = launch(toy, "exit", "0", options=["--slice", "0.02"])
    assert result["exit_code"] == 0
    release = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    assert result["slice_ns"] == (20_000_000 if release >= (6, 12) else 0)
    assert launch(toy, "exit", "0")["slice_ns"] is None


def test_processor_that_does_not_exist_is_refused(launch: Any, toy: str) -> None:
    result = launch(toy, "exit", "0", options=["--cpus", "1000"])
    assert result["start_error"] == "Invalid argument"
    assert result["exit_code"] is None


def test_memory_is_the_programs_own_even_below_a_fat_parent(launch: Any, toy: str) -> None:
    """V7: what a fat parent hands down through exec must not be in the child's figure."""
    fat = bytearray(500 * MIB)
    fat[::4096] = b"x" * len(fat[::4096])
    small, big = (launch(toy, "touch", n)["peak_rss_bytes"] for n in ("1", "101"))
    assert small < 16 * MIB
    assert abs((big - small) - 100 * MIB) <= 2 * MIB
    del fat


def test_without_the_launcher_the_fat_parent_is_what_one_reads(toy: str) -> None:
    """What the test above guards against: Python's own wait4 of the same program."""
    fat = bytearray(500 * MIB)
    fat[::4096] = b"x" * len(fat[::4096])
    with subprocess.Popen([toy, "touch", "1"]) as child:
        usage = os.wait4(child.pid, 0)[2]
        child.returncode = 0
    assert usage.ru_maxrss * 1024 > 500 * MIB
    del fat


def test_memory_of_the_largest_descendant_counts(launch: Any, toy: str) -> None:
    result = launch("/bin/sh", "-c", f"{toy} touch 100; true")
    assert result["peak_rss_bytes"] > 100 * MIB


def test_processor_time_is_the_programs(launch: Any, toy: str) -> None:
    """Time on the processor never exceeds one thread's wall time, except for the kernel's tick."""
    result = launch(toy, "spin", "200")
    used = result["user_s"] + result["system_s"]
    assert result["wall_s"] >= 0.2
    assert 0 < used <= result["wall_s"] + 0.02


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_launcher_that_is_stopped_kills_and_still_reports(
    native: Path, toy: str, tmp_path: Path, number: signal.Signals
) -> None:
    result, out = tmp_path / "result", tmp_path / "out"
    command = [
        str(native / "heapwise-launch"),
        "--result",
        str(result),
        "--",
        "/bin/sh",
        "-c",
        f"echo $$ > {out}; {toy} ignore-term",
    ]
    with subprocess.Popen(command) as launcher:
        pid = _first_line(out)
        launcher.send_signal(number)
        assert launcher.wait(timeout=90) == 0
    assert json.loads(result.read_text())["stopped_by"] == number.name
    assert gone(pid)


def test_program_does_not_outlive_the_launchers_parent(
    native: Path, toy: str, tmp_path: Path
) -> None:
    result, out = tmp_path / "result", tmp_path / "out"
    command = (
        f"{native / 'heapwise-launch'} --result {result} -- /bin/sh -c "
        f"'echo $$ > {out}; exec {toy} hang' & wait"
    )
    with subprocess.Popen(["/bin/sh", "-c", command]) as parent:
        pid = _first_line(out)
        parent.kill()
        parent.wait()
    assert gone(pid)
    assert json.loads(_when_written(result))["stopped_by"] == "parent"


def test_program_does_not_outlive_a_launcher_that_is_killed(
    native: Path, toy: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = [
        str(native / "heapwise-launch"),
        "--result",
        str(tmp_path / "result"),
        "--",
        "/bin/sh",
        "-c",
        f"echo $$ > {out}; exec {toy} hang",
    ]
    with subprocess.Popen(command) as launcher:
        pid = _first_line(out)
        launcher.kill()
        launcher.wait()
    assert gone(pid)


def _first_line(path: Path) -> int:
    return int(_when_written(path))


def _when_written(path: Path) -> str:
    for _ in range(1200):
        if path.exists() and path.read_text().endswith("\n"):
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--"],
        ["--timeout", "0", "--", "true"],
        ["--timeout", "soon", "--", "true"],
        ["--timeout", "nan", "--", "true"],
        ["--cpus", "x", "--", "true"],
        ["--environment", "x", "--", "true"],
        ["--environment", "1", "--", "true"],
        ["--environment", "99", "--", "true"],
        ["--loud", "1", "--", "true"],
        ["--stdout"],
        ["true"],
    ],
)
def test_bad_usage_says_what_why_next(native: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [str(native / "heapwise-launch"), *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error E003: ")
    assert "\n  do: " in done.stderr


def test_result_that_cannot_be_written_is_exit_5(native: Path, toy: str) -> None:
    for option in ("--result", "--stdout"):
        done = subprocess.run(
            [str(native / "heapwise-launch"), option, "/nonexistent/file", "--", toy, "exit", "0"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 5
        assert done.stderr.startswith("error E050")


def test_passed_stdout_is_the_launchers_own(native: Path, toy: str, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    done = subprocess.run(
        [
            str(native / "heapwise-launch"),
            "--result",
            str(result),
            "--pass-stdout",
            "--",
            "/bin/echo",
            "straight through",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "straight through\n"
    seen = json.loads(result.read_text())
    assert set(seen) == KEYS
    assert (seen["output_bytes"], seen["output_hash"], seen["exit_code"]) == (None, None, 0)


@pytest.mark.parametrize("options", [[], ["--result", "/dev/null", "--stdout", "/dev/null"]])
def test_passed_stdout_is_nobody_elses(native: Path, options: list[str]) -> None:
    done = subprocess.run(
        [str(native / "heapwise-launch"), "--pass-stdout", *options, "--", "/bin/true"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "--pass-stdout cannot be used here" in done.stderr
    assert done.stdout == ""


def waiting(native: Path, result: Path, starter: socket.socket) -> list[str]:
    """The launcher of a shell command that waits for its starter."""
    options = ["--result", str(result), "--starter", str(starter.fileno())]
    return [str(native / "heapwise-launch"), *options, "--", "/bin/sh", "-c"]


def test_a_starter_says_when_the_program_starts(native: Path, toy: str, tmp_path: Path) -> None:
    for word, what in ((b"s", "started"), (b"", "never")):
        ours, theirs = socket.socketpair()
        out, mark = tmp_path / f"result-{what}", tmp_path / f"mark-{what}"
        launcher = subprocess.Popen(
            [
                native / "heapwise-launch",
                "--result",
                out,
                "--starter",
                str(theirs.fileno()),
                "--",
                "/bin/sh",
                "-c",
                f"touch {mark}; exec {toy} exit 3",
            ],
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        time.sleep(0.05)
        assert not mark.exists()
        if word:
            ours.send(word)
            assert ours.recv(1) == b"e"
        ours.close()
        assert launcher.wait(timeout=20) == 0
        assert mark.exists() == bool(word)
        assert out.exists() == bool(word)
    result = json.loads((tmp_path / "result-started").read_text())
    assert result["exit_code"] == 3
    assert set(result) == KEYS
    taken_s = (result["end_ns"] - result["start_ns"]) * 1e-9
    assert taken_s == pytest.approx(result["wall_s"])


def test_a_program_ends_at_once_with_its_starter(native: Path, toy: str, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    out = tmp_path / "result"
    launcher = subprocess.Popen(
        [
            native / "heapwise-launch",
            "--result",
            out,
            "--starter",
            str(theirs.fileno()),
            "--",
            "/bin/sh",
            "-c",
            "trap '' TERM; sleep 60 & sleep 60",
        ],
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    ours.send(b"s")
    time.sleep(0.1)
    ours.close()
    assert launcher.wait(timeout=20) == 0
    assert json.loads(out.read_text())["signal_name"] == "SIGKILL"
