"""The lines of a process are taken to the last one, however late it comes."""

from __future__ import annotations

import os
import time
from typing import IO, Any, cast

from heapwise.model import End
from heapwise.runner.process.stream import NativeLine, _drain


class EndsWhenAsked:
    """A launcher whose last lines arrive just when somebody asks whether it has ended."""

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self.stdout: IO[bytes] = os.fdopen(reader, "rb")
        self._asked = False

    def poll(self) -> int:
        if not self._asked:
            os.write(self._writer, b'{"kind":"sample"}\nnoise\n{"kind":"end"}\n')
            os.close(self._writer)
        self._asked = True
        return 0


def test_lines_that_were_written_before_the_end_are_read() -> None:
    launcher, taken = EndsWhenAsked(), list[NativeLine]()
    with launcher.stdout:
        noise = _drain(cast("Any", launcher), time.monotonic() + 20, taken.append)
    assert taken == [None, End(kind="end")], "a sample without figures is misspelt"
    assert noise == 1
