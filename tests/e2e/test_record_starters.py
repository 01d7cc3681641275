"""What was recorded is what was asked for, or the answer says what it is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]

SOURCE = """
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments) {
  if (count > 1 && (chroot("/") || setgid(65534) || setuid(65534))) return 3;
  for (int i = 0; i < 20000; ++i) { void *volatile block = malloc(64); free(block); }
  return 0;
}
"""
CALLS = 40000


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one program, linked in two ways, and scripts that start it."""
    folder = tmp_path_factory.mktemp("starters")
    for each in (folder, *list(folder.parents)[:3]):
        if each.stat().st_uid == os.getuid():
            each.chmod(each.stat().st_mode | 0o111)  # another user is to find it
    source = folder / "work.c"
    source.write_text(SOURCE)
    for name, options in {"dynamic": [], "static": ["-static"]}.items():
        subprocess.run(["cc", "-O1", *options, str(source), "-o", str(folder / name)], check=True)
    setuid = folder / "setuid"
    shutil.copy(folder / "dynamic", setuid)
    setuid.chmod(0o4755)
    return folder


def recorded(heapwise: Heapwise, trace: Path, *words: str) -> tuple[int, int, str]:
    """The exit code, how many calls of the first process were recorded, and the text."""
    done = heapwise("record", "-o", str(trace), *words)
    events = json.loads(heapwise("trace", str(trace), "--json").stdout)["summary"]["events"]
    return done.returncode, events, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("starter", "program", "error", "reason"),
    [
        ("env", "static", "E020", "statically linked"),
        ("env -i", "dynamic", "E028", "without LD_PRELOAD"),
        ("sh -c", "static", "E020", "statically linked"),
        ("sh -c", "exec static", "E020", "statically linked"),
        ("timeout 9", "static", "E020", "statically linked"),
        ("setpriv --reuid=65534 --clear-groups env", "setuid", "E022", "setuid"),
    ],
)
def test_a_program_that_was_not_recorded_is_named(
    heapwise: Heapwise,
    programs: Path,
    tmp_path: Path,
    starter: str,
    program: str,
    error: str,
    reason: str,
) -> None:
    if "setpriv" in starter and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    *before, name = program.split()
    started = " ".join([*before, str(programs / name)])
    for options in ([], ["--profile"], ["--follow"]):
        code, events, said = recorded(
            heapwise, tmp_path / "x.hwt", *options, "--", *starter.split(), started
        )
        assert code == 2, said
        assert error in said
        assert f"{name}, which was not recorded" in said
        assert reason in said
        assert events < CALLS
    code, _, said = recorded(
        heapwise, tmp_path / "x.hwt", "--force", "--", *starter.split(), started
    )
    assert code == 0
    assert f"Missed {name}" in said


@pytest.mark.parametrize(
    "starter", ["env", "setpriv --reuid=65534 --clear-groups", "chroot --userspec=65534:65534 /"]
)
def test_a_program_that_a_starter_becomes_is_recorded_whole(
    heapwise: Heapwise, programs: Path, tmp_path: Path, starter: str
) -> None:
    if starter != "env" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    code, events, said = recorded(
        heapwise, tmp_path / "x.hwt", "--", *starter.split(), str(programs / "dynamic")
    )
    assert code == 0, said
    assert events >= CALLS
    assert "Missed" not in said


def test_a_program_that_gives_up_its_rights_first_is_recorded_whole(
    heapwise: Heapwise, programs: Path, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    code, events, said = recorded(
        heapwise, tmp_path / "x.hwt", "--", str(programs / "dynamic"), "early"
    )
    assert code == 0, said
    assert events >= CALLS


def test_children_are_named_that_nobody_can_record(
    heapwise: Heapwise, programs: Path, tmp_path: Path
) -> None:
    """One child is recorded, so the shell does what was asked for."""
    command = f"{programs}/static; {programs}/dynamic"
    code, _, said = recorded(heapwise, tmp_path / "x.hwt", "--follow", "--", "sh", "-c", command)
    assert code == 0
    assert "Followed 1 child" in said
    assert "Missed static, which it started: it is statically linked" in said
    code, _, said = recorded(heapwise, tmp_path / "x.hwt", "--", "sh", "-c", command)
    assert code == 0
    assert "Missed 1 process that it started; heapwise record --follow" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_command_ends_the_program_and_keeps_the_trace(
    number: int, heapwise: Heapwise, tmp_path: Path
) -> None:
    trace = tmp_path / "x.hwt"
    command = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "heapwise",
            "record",
            "-o",
            str(trace),
            "--",
            "perl",
            "-e",
            "$| = 1; print qq($$\\n); while (1) { my @x = 1..99; select undef, undef, undef, .01 }",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    program = int(command.stdout.readline())
    command.send_signal(number)
    said, _ = command.communicate(timeout=60)
    assert command.returncode == 128 + number
    assert f"signal {int(number)}" in said
    assert not Path(f"/proc/{program}").exists()
    assert not json.loads(heapwise("trace", str(trace), "--json").stdout)["damage"]


def test_a_command_that_is_killed_leaves_no_program(tmp_path: Path) -> None:
    trace = tmp_path / "x.hwt"
    command = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "heapwise",
            "record",
            "-o",
            str(trace),
            "--",
            "sh",
            "-c",
            "echo $$; exec sleep 60",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    program = int(command.stdout.readline())
    command.kill()
    command.communicate(timeout=60)
    end = time.monotonic() + 30
    while Path(f"/proc/{program}").exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_full_disk_is_reported_and_leaves_what_was_before(
    heapwise: Heapwise, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    try:
        trace = small / "x.hwt"
        code, events, said = recorded(
            heapwise,
            trace,
            "--",
            "perl",
            "-e",
            "for my $i (1..300) { my @x = map { 'x' x $_ } 1..2000 }",
        )
        assert code == 5
        assert "E051" in said
        assert "holds the calls before" in said
        assert events > 10_000
        shown = json.loads(heapwise("trace", str(trace), "--json").stdout)
        assert not shown["damage"]
        assert shown["events"] == shown["summary"]["kept_events"] <= events
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_trace_is_not_replaced_unless_it_is_named(
    heapwise: Heapwise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("true.hwt", "true-2.hwt", "true-3.hwt"):
        done = heapwise("record", "--", "true")
        assert done.returncode == 0, done.stderr
        assert f"Saved    {name}" in done.stdout
    first = Path("true.hwt").read_bytes()
    heapwise("record", "-o", "true.hwt", "--", "true")
    assert Path("true.hwt").read_bytes() != first
