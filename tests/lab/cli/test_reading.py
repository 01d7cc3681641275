"""How far a long file is read is told, with the time left."""

from __future__ import annotations

import pytest

from heapwise.cli.frame.tell import reading as told
from heapwise.cli.frame.tell.reading import reading, reading_line


def test_the_line_has_the_time_left() -> None:
    assert reading_line("a.hwt", 0.25, 10.0) == "reading a.hwt  #####---------------  eta 0:30"
    assert reading_line("a.hwt", 0.0, 10.0) == "reading a.hwt  --------------------"


def test_elsewhere_than_on_a_terminal_a_line_is_written_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(told.time, "monotonic", lambda: now[0])
    for quiet in (True, False):
        with reading("a.hwt", quiet) as tell:
            for percent in range(0, 100, 10):
                tell(percent / 100)
                now[0] += 10
    assert capfd.readouterr().err.splitlines() == [
        "reading a.hwt  ######--------------  eta 1:10",
        "reading a.hwt  ############--------  eta 0:40",
        "reading a.hwt  ##################--  eta 0:10",
    ]
