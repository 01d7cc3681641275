"""steady_program.py MIB LEAK: holds MIB of memory, replaces parts of it at random, and takes LEAK
bytes a second more that it never gives back."""

from __future__ import annotations

import mmap
import random
import sys
import time

LEVEL, LEAK = int(sys.argv[1]) << 20, float(sys.argv[2])
PAGE, PIECE = 4096, 64 << 10
TICK_S = 0.05

random.seed(1)
blocks = [bytearray(b"x" * PIECE) for _ in range(LEVEL // PIECE)]
lost = mmap.mmap(-1, 1 << 30)
began, used = time.monotonic(), 0
while True:
    place = random.randrange(len(blocks))
    blocks[place] = bytearray(b"y" * PIECE)
    due = int((time.monotonic() - began) * LEAK)
    while used + PAGE <= due:
        lost[used] = 1
        used += PAGE
    time.sleep(TICK_S)
