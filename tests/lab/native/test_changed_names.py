"""Which names real programs change, as the kernel tells the launcher before each call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Names = dict[str, tuple[str, bool, bool]]
"""Name -> what the program did, whether it fails if it is there, whether it holds its number."""

Look = Callable[..., tuple[dict[str, Any], Names]]


@pytest.fixture
def look(launch: Any) -> Look:
    """Starts a program; returns the launcher's result, and the names."""

    def start(*program: str, options: list[str] | None = None) -> tuple[dict[str, Any], Names]:
        result = launch(*program, options=["--watch-names", *(options or [])])
        changed = result["changed_names"]
        if changed["missing"] and "kernel" in changed["missing"]:
            pytest.skip(changed["missing"])
        names = {
            each["name"]: (each["how"], each["exclusive"], each["numbered"])
            for each in changed["names"]
        }
        return result, names

    return start


@pytest.fixture
def shell(look: Look) -> Callable[[str], Names]:
    """The names that a script of bash changes, which ends with 0."""

    def run(script: str) -> Names:
        result, names = look("/bin/bash", "-euc", script)
        assert result["exit_code"] == 0
        assert result["changed_names"]["missing"] is None
        return names

    return run


def test_nobody_looks_unless_asked(launch: Any) -> None:
    assert launch("/bin/true")["changed_names"] is None


@pytest.mark.parametrize(
    "script",
    [
        "seq 1000 | sort -r | cat >/dev/null",
        "cat <<<here; cat <(echo there); coproc cat; echo a >&2",
        "echo out >/dev/stdout; echo err >/dev/fd/2; echo name >/proc/self/comm",
        "rm -f /nonexistent; mkdir -p /tmp; cat /etc/passwd >/dev/zero",
        "{ true </dev/tty; } 2>/dev/null || true",
    ],
)
def test_pipes_devices_and_what_fails_change_no_name(
    shell: Callable[[str], Names], script: str
) -> None:
    assert shell(script) == {}


def test_files_and_what_was_done_first_are_named(
    shell: Callable[[str], Names], tmp_path: Path
) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "gone").write_text("gone")
    (tmp_path / "link").symlink_to("old")
    names = shell(
        f"cd {tmp_path}; echo a >new; rm new; echo b >>link; rm gone; mv new2 x || true;"
        "mkdir sub; echo c >sub/inside; ln -s old second; echo d >third.tmp; mv third.tmp third;"
        "set -C; echo e >only"
    )
    assert names == {
        f"{tmp_path}/new": ("made", False, False),
        f"{tmp_path}/old": ("written", False, False),
        f"{tmp_path}/gone": ("removed", False, False),
        f"{tmp_path}/sub": ("made", True, False),
        f"{tmp_path}/second": ("made", True, False),
        f"{tmp_path}/third.tmp": ("made", False, False),
        f"{tmp_path}/third": ("made", False, False),
        f"{tmp_path}/only": ("made", True, False),
    }


def test_names_with_the_number_of_the_process_or_of_its_parent_are_told(
    shell: Callable[[str], Names], tmp_path: Path
) -> None:
    names = shell(f"cd {tmp_path}; echo a >own.$$; (echo b >parent-$$.txt); echo c >x{os.getpid()}")
    numbered = {name.rpartition("/")[2][:3]: each[2] for name, each in names.items()}
    assert numbered == {"own": True, "par": True, f"x{os.getpid()}"[:3]: False}


def test_descriptors_of_other_processes_lead_to_their_files(
    shell: Callable[[str], Names], tmp_path: Path
) -> None:
    with (tmp_path / "theirs").open("w") as file:
        place = f"/proc/{os.getpid()}/fd/{file.fileno()}"
        ours = f"cd {tmp_path}; echo a >/proc/self/cwd/ours; echo b >{place}"
        assert set(shell(ours)) == {f"{tmp_path}/ours", f"{tmp_path}/theirs"}
    memory = os.memfd_create("memory")
    assert shell(f"echo a >/proc/{os.getpid()}/fd/{memory}") == {}


def test_temporary_files_are_new_ones_only(look: Look, tmp_path: Path) -> None:
    script = (
        "import os, sys, tempfile\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "tempfile.TemporaryFile().write(b'x')\n"
        "tempfile.NamedTemporaryFile().write(b'x')\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    open(folder + '/fixed', 'w').write('x')\n"
    )
    _, names = look(sys.executable, "-c", script, str(tmp_path))
    assert len(names) == 2
    assert all(each == ("made", True, False) for each in names.values())


def test_sockets_ports_keys_and_locks_are_named(look: Look, tmp_path: Path) -> None:
    script = (
        "import ctypes, fcntl, os, socket, sys\n"
        "os.chdir(sys.argv[1])\n"
        "socket.socketpair()\n"
        "local = socket.socket(socket.AF_UNIX); local.bind('s')\n"
        "hidden = socket.socket(socket.AF_UNIX); hidden.bind('\\0hidden')\n"
        "free = socket.socket(); free.bind(('127.0.0.1', 0)); free.listen()\n"
        "asking = socket.create_connection(free.getsockname())\n"
        "print(free.getsockname()[1])\n"
        "fcntl.flock(open('/etc/passwd'), fcntl.LOCK_EX)\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.shmctl(libc.shmget(0, 100, 0o1600), 0, 0)\n"
        "libc.semget(0x7e57, 1, 0)\n"
    )
    out = tmp_path / "out"
    _, names = look(sys.executable, "-c", script, str(tmp_path), options=["--stdout", str(out)])
    assert names == {
        f"{tmp_path}/s": ("bound", True, False),
        "@hidden": ("bound", True, False),
        f"127.0.0.1:{int(out.read_text())}": ("connected", True, False),
        "/etc/passwd": ("locked", False, False),
        "key 0x7e57 of System V IPC": ("used", False, False),
    }


def test_descendants_are_looked_at_after_their_parent_has_ended(
    shell: Callable[[str], Names], tmp_path: Path
) -> None:
    file = tmp_path / "late"
    assert shell(f"( (sleep 0.05; echo late >{file}) & )") == {str(file): ("made", False, False)}
    assert file.read_text() == "late\n"


def test_a_chroot_and_a_file_system_of_its_own_are_seen_from_outside(
    look: Look, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may")
    script = f"mount -t tmpfs none /mnt && echo a >/mnt/own && echo b >{tmp_path}/shared"
    _, names = look("unshare", "-m", "sh", "-c", script)
    assert list(names) == [f"{tmp_path}/shared"]
    enter = "import os, sys; os.chroot(sys.argv[1]); os.chdir('/'); open('/inside', 'w').close()"
    _, names = look(sys.executable, "-c", enter, str(tmp_path))
    assert list(names) == [f"{tmp_path}/inside"]


def test_many_files_are_counted_and_twenty_are_named(look: Look, tmp_path: Path) -> None:
    result, names = look("/bin/bash", "-c", f"for i in {{1..50}}; do echo >{tmp_path}/f$i-; done")
    assert len(names) == 20
    assert result["changed_names"]["more"] == 30


def test_names_in_a_folder_of_its_own_are_left_out(look: Look, tmp_path: Path) -> None:
    own, link = tmp_path / "own", tmp_path / "link"
    own.mkdir()
    link.symlink_to(own)
    script = f"for i in {{1..50}}; do echo >{own}/f$i-; done; echo >{tmp_path}/owner"
    _, names = look("/bin/bash", "-c", script, options=["--own-folder", str(link)])
    assert list(names) == [f"{tmp_path}/owner"]


def test_threads_and_signals_go_on_as_without_a_look(look: Look, tmp_path: Path) -> None:
    """Signals that restart calls, as those of most programs do."""
    script = (
        "import os, signal, sys, tempfile, threading\n"
        "signal.signal(signal.SIGALRM, lambda *_: None)\n"
        "signal.siginterrupt(signal.SIGALRM, False)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)\n"
        "def work():\n"
        "    with tempfile.NamedTemporaryFile(dir=sys.argv[1]) as file:\n"
        "        file.write(b'x' * 100)\n"
        "threads = [threading.Thread(target=work) for _ in range(300)]\n"
        "[each.start() for each in threads]\n"
        "[each.join() for each in threads]\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "print(os.listdir(sys.argv[1]))\n"
    )
    folder, out = tmp_path / "folder", tmp_path / "out"
    folder.mkdir()
    result, names = look(sys.executable, "-c", script, str(folder), options=["--stdout", str(out)])
    assert result["exit_code"] == 0
    assert out.read_text() == "[]\n"
    assert len(names) + result["changed_names"]["more"] >= 300


def test_a_time_limit_ends_a_program_that_is_looked_at(look: Look, tmp_path: Path) -> None:
    script = f"while :; do echo a >{tmp_path}/file; done"
    result, names = look("/bin/sh", "-c", script, options=["--timeout", "0.3"])
    assert result["timed_out"]
    assert list(names) == [f"{tmp_path}/file"]


def test_the_end_of_the_launcher_ends_the_program(native: Path, tmp_path: Path) -> None:
    script = f"echo $$ >{tmp_path}/number; exec sleep 60"
    command = [str(native / "heapwise-launch"), "--watch-names", "--", "/bin/sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as launcher:
        while not (tmp_path / "number").exists() or not (tmp_path / "number").read_text():
            assert launcher.poll() is None
        number = int((tmp_path / "number").read_text())
        launcher.terminate()
        assert launcher.wait(10) == 0
    assert not Path(f"/proc/{number}").exists()


def test_a_program_that_watches_calls_itself_is_not_known(look: Look, native: Path) -> None:
    """A launcher in a launcher: only one of them can be told of calls."""
    inner = [str(native / "heapwise-launch"), "--watch-names", "--", "/bin/true"]
    result, _ = look(*inner)
    assert result["exit_code"] == 0
    assert result["changed_names"]["missing"] == "it watches system calls itself"


def test_a_program_with_a_filter_that_asks_nobody_is_known(look: Look, tmp_path: Path) -> None:
    """What the filter of the program refuses is refused, as without a look."""
    script = (
        "import ctypes, os, struct, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.prctl(38, 1, 0, 0, 0)\n"
        "code = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[2])), (6, 0, 0, 0x50001),"
        " (6, 0, 0, 0x7fff0000)]\n"
        "data = ctypes.create_string_buffer(b''.join(struct.pack('=HBBI', *c) for c in code))\n"
        "program = struct.pack('HxxxxxxQ', len(code), ctypes.addressof(data))\n"
        "assert libc.prctl(22, 2, program, 0, 0) == 0\n"
        "open(sys.argv[1] + '/made', 'w').close()\n"
        "try:\n"
        "    os.mkdir(sys.argv[1] + '/refused')\n"
        "except PermissionError:\n"
        "    print('refused')\n"
    )
    number = {"x86_64": "83", "aarch64": "34"}.get(os.uname().machine)
    if number is None:
        pytest.skip("the number of mkdir is not known here")
    out = tmp_path / "out"
    result, names = look(
        sys.executable, "-c", script, str(tmp_path), number, options=["--stdout", str(out)]
    )
    assert out.read_text() == "refused\n"
    assert result["changed_names"]["missing"] is None
    assert f"{tmp_path}/made" in names


@pytest.mark.parametrize("program", ["java", "node", "ruby", "gdb"])
def test_large_programs_work_while_they_are_looked_at(look: Look, program: str) -> None:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    arguments = {
        "java": ["-version"],
        "node": ["-e", "new (require('worker_threads').Worker)('1', {eval: true})"],
        "ruby": ["-e", "Process.wait(fork { exit! 0 }); puts `echo a`"],
        "gdb": ["-q", "-nx", "-batch", "-ex", "run", "--args", "/bin/true"],
    }
    result, names = look(found, *arguments[program])
    assert result["exit_code"] == 0
    assert result["changed_names"]["missing"] is None
    assert all(numbered for _, _, numbered in names.values()), names


def test_another_user_without_rights_is_looked_at(native: Path, tmp_path: Path) -> None:
    """By a launcher that has no rights; a program that gains rights is left alone."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("only root can become another user")
    folder = Path("/tmp") / f"heapwise-names-{os.getpid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    try:
        shutil.copy(native / "heapwise-launch", folder / "heapwise-launch")
        shutil.copy("/bin/true", folder / "rights")
        (folder / "rights").chmod(0o4755)
        become = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        start = [*become, str(folder / "heapwise-launch"), "--watch-names", "--"]
        script = f"echo a >{folder}/file; echo b >/etc/passwd || true"
        done = subprocess.run(
            [*start, "/bin/sh", "-c", script], capture_output=True, text=True, check=True
        )
        assert f'"name":"{folder}/file","how":"made"' in done.stdout
        assert "/etc/passwd" not in done.stdout
        done = subprocess.run(
            [*start, str(folder / "rights")], capture_output=True, text=True, check=True
        )
        assert '"missing":"the program may gain rights' in done.stdout
        assert '"exit_code":0' in done.stdout
    finally:
        shutil.rmtree(folder)
