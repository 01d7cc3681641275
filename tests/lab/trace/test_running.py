"""A look at a recording while its program runs."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from heapwise.catalog import DRAIN, RECORDER, native_part
from heapwise.trace import open_trace

SOURCE = """\
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void *busy(void) { return malloc(64); }
int main(void) {
  for (int k = 0; k < 200000; ++k) free(busy());
  write(1, "r", 1);
  char end;
  return read(0, &end, 1) < 0;
}
"""


def test_a_running_recording_has_names_and_says_that_it_runs(heapwise: Any, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(SOURCE)
    program, trace = tmp_path / "p", tmp_path / "t.hwt"
    flags = ["-O1", "-g", "-fno-optimize-sibling-calls"]
    subprocess.run(["cc", *flags, "-o", program, tmp_path / "p.c"], check=True, timeout=60)
    about = f'{{"command": ["p"], "program": "{program}"}}'
    words = ["-o", trace, "--recorder", native_part(RECORDER), "--about", about, "--", program]
    with subprocess.Popen(
        [native_part(DRAIN), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as recorded:
        try:
            assert recorded.stdout is not None
            assert recorded.stdout.read(1) == b"r"
            deadline = time.monotonic() + 30
            while not frames(trace) and time.monotonic() < deadline:
                time.sleep(0.05)
            done = heapwise("trace", str(trace))
            assert "is still being recorded" in " ".join(done.stdout.split())
            assert "busy (p.c:3)" in done.stdout
            assert "Damaged" not in done.stdout
        finally:
            recorded.communicate(b"x", timeout=60)
    done = heapwise("trace", str(trace))
    assert "still being recorded" not in done.stdout
    assert "busy (p.c:3)" in done.stdout


def frames(trace: Path) -> int:
    if not trace.exists() or trace.stat().st_size < 1000:
        return 0
    with open_trace(trace) as opened:
        return len(opened.frames)
