"""Whether a process wrote its file, and what, however soon after the one before."""

from __future__ import annotations

from pathlib import Path

from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import Work


def test_the_same_contents_written_at_once_again_are_written_again(tmp_path: Path) -> None:
    """Kernels before 6.13 give two changes within one step of their clock the same time."""
    file = tmp_path / "out"
    work = Work([str(file)], "", {}, str(tmp_path), tmp_path)
    for _ in range(20):
        work.begin()
        file.write_text("same")
        assert work.judge(StopSwitch(), 1.0)[0] == "ok"
    work.begin()
    assert work.judge(StopSwitch(), 1.0)[:2] == ("failed", f"it did not write {file}")
