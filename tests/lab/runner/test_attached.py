"""Which processes can be watched, and why the others cannot."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.runner import watch_memory
from heapwise.runner.process.stop_switch import StopSwitch


def refusal(pid: int) -> str:
    with pytest.raises(Problem) as refused:
        watch_memory(pid, 0.1, StopSwitch())
    assert refused.value.id == "E011"
    return f"{refused.value.what} {refused.value.why} {refused.value.do}"


def test_a_thread_names_its_process() -> None:
    number, over = 0, threading.Event()
    ready = threading.Event()

    def wait() -> None:
        nonlocal number
        number = threading.get_native_id()
        ready.set()
        over.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    ready.wait()
    try:
        found = refusal(number)
    finally:
        over.set()
        thread.join()
    owner = Path("/proc/self").resolve().name
    assert f"it is a thread of process {owner}" in found
    assert f"heapwise watch {owner}" in found


def test_a_process_that_has_ended_is_nobodys() -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    assert "there is no such process, or it has ended" in refusal(ended.pid)


def test_a_process_whose_end_nobody_has_taken_notice_of_has_no_memory() -> None:
    ended = subprocess.Popen(["true"], stdout=subprocess.PIPE)
    assert ended.stdout is not None
    ended.stdout.read()
    while " Z " not in Path(f"/proc/{ended.pid}/stat").read_text():
        pass
    assert "it has no memory of its own" in refusal(ended.pid)
    ended.wait()


@pytest.mark.skipif(
    not Path("/proc/2/comm").exists() or Path("/proc/2/comm").read_text() != "kthreadd\n",
    reason="the threads of the kernel are not seen here",
)
def test_a_thread_of_the_kernel_has_no_memory() -> None:
    assert "It is a thread of the kernel" in refusal(2)
