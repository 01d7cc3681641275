"""paused.py PERIOD PAUSE COMMAND...: starts a server that stands still for PAUSE of every PERIOD
seconds, at the end of each. All of its threads stop, as they do while a collector marks.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

period_s, pause_s = float(sys.argv[1]), float(sys.argv[2])
server = subprocess.Popen(sys.argv[3:])


def end(*_: object) -> None:
    server.send_signal(signal.SIGCONT)
    server.terminate()
    server.wait()
    os._exit(0)


signal.signal(signal.SIGTERM, end)
next_pause = time.monotonic() + period_s - pause_s
while server.poll() is None:
    time.sleep(max(0.0, next_pause - time.monotonic()))
    server.send_signal(signal.SIGSTOP)
    time.sleep(pause_s)
    server.send_signal(signal.SIGCONT)
    next_pause += period_s
