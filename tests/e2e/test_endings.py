"""Every ending has the exit code of docs/exit-codes.md, and one line that says why."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

HEAPWISE = f"{shlex.quote(sys.executable)} -m heapwise"
STRANGER = 65534


def shell(environment: dict[str, str], place: Path, line: str) -> subprocess.CompletedProcess[str]:
    """bash, so that every exit code of a pipe is known."""
    return subprocess.run(
        ["bash", "-c", line],
        env=environment,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )


WITHOUT_READER = (
    "mkfifo closed; (read -r word <closed; {heapwise} @) | {{ exec <&-; "
    "echo >closed; }}; exit ${{PIPESTATUS[0]}}"
)
"""@: the words. The command starts when nobody reads any more what it prints."""


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (WITHOUT_READER.replace("@", "explain E021"), 141, ""),
        (WITHOUT_READER.replace("@", "--help"), 141, ""),
        ("{heapwise} explain E999 2>&-", 2, ""),
        ("{heapwise} explain E021 >&-", 0, ""),
        ("{heapwise} explain E021 <&- >&- 2>&-", 0, ""),
        ("{heapwise} explain E021 >/dev/full", 5, "E056"),
        ("{heapwise} --version >/dev/full", 5, "E056"),
        ("{heapwise} explain E021 --json >/dev/full", 5, "E056"),
        ("mkdir gone; cd gone; rmdir ../gone; {heapwise} list", 5, "E056"),
        ("{heapwise} report --list --store $(printf 'x%.0s' {{1..300}})", 0, ""),
        ("{heapwise} doctor --store $(printf 'x%.0s' {{1..300}})", 5, ""),
        ("{heapwise} compare --store $(printf 'x%.0s' {{1..300}}) --runs 1 -- true", 5, "E050"),
        ("{heapwise} compare --allocators glibc -- true", 2, "E003"),
    ],
)
def test_exit_codes(
    environment: dict[str, str], tmp_path: Path, line: str, code: int, says: str
) -> None:
    done = shell(environment, tmp_path, line.format(heapwise=HEAPWISE))
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_store_that_one_may_not_look_into_is_a_missing_permission(
    environment: dict[str, str], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        tmp_path.joinpath("closed").mkdir(mode=0o000)
        done = shell(environment, tmp_path, f"{HEAPWISE} compare --store closed/s -- true")
    else:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)
        as_stranger = (
            f"import os,sys; os.setgroups([]); os.setgid({STRANGER}); "
            f"os.setuid({STRANGER}); os.execv(sys.executable, [sys.executable, '-m', "
            f"'heapwise', 'compare', '--store', '{closed}/s', '--', 'true'])"
        )
        environment["XDG_DATA_HOME"] = "/nonexistent"
        done = subprocess.run(
            [sys.executable, "-c", as_stranger],
            env=environment,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 5, done.stderr
    assert "error E050" in done.stderr


STARTS = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Tell:
    def find_spec(name, *_):
        if name == "heapwise.cli.frame":  # the first that the command loads
            sys.meta_path.remove(Tell)
            os.write({writing}, b"x")
            os.close({writing})

sys.meta_path.insert(0, Tell)
sys.argv = ["heapwise", "compare", "--runs", "99", "--", "sleep", "9"]
from heapwise.cli import main
main()
"""


@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_ctrl_c_while_it_starts_is_one_line(
    environment: dict[str, str], tmp_path: Path, delay_s: float
) -> None:
    """From the moment at which our first file runs; before it there is only the interpreter."""
    reading, writing = os.pipe()
    line = STARTS.format(writing=writing)
    with subprocess.Popen(
        [sys.executable, "-c", line],
        env=environment,
        cwd=tmp_path,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[writing],
    ) as child:
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        time.sleep(delay_s)
        child.send_signal(signal.SIGINT)
        assert child.stderr is not None
        words = child.stderr.read()
        code = child.wait(timeout=120)
    assert code == 130, words
    assert "Traceback" not in words
    assert words.startswith("stopped by you")


def test_native_parts_in_a_path_that_the_loader_cannot_preload(
    heapwise: Any, tmp_path: Path, built_native: Path
) -> None:
    odd = tmp_path / "my project"
    odd.symlink_to(built_native)
    done = heapwise("compare", "--runs", "1", "--", "true", env={"HEAPWISE_NATIVE": str(odd)})
    assert done.returncode == 5, done.stderr
    assert "error E052" in done.stderr
    assert "a space or a colon" in " ".join(done.stderr.split())


def test_doctor_makes_no_store(heapwise: Any, tmp_path: Path) -> None:
    assert "made by the first run" in heapwise("doctor").stdout
    assert not (tmp_path / "store").exists()
    (tmp_path / "file").write_text("")
    done = heapwise("doctor", "--store", "file/store")
    assert (done.returncode, "cannot be written" in done.stdout) == (5, True)
