"""slow_pipe.py HOST PORT DELAY STALL: carries a connection between its own input and output and a
server, as ssh's ProxyCommand does. Each piece comes DELAY seconds late, and one of fifty STALL
seconds later still, as it does when a packet is lost and sent again."""

from __future__ import annotations

import os
import queue
import random
import socket
import sys
import threading
import time

DELAY_S, STALL_S = float(sys.argv[3]), float(sys.argv[4])
ONE_OF = 50


def carry(source: int, target: int) -> None:
    waiting: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def write() -> None:
        while True:
            at, piece = waiting.get()
            time.sleep(max(0.0, at - time.monotonic()))
            if not piece:
                os._exit(0)
            while piece:
                piece = piece[os.write(target, piece) :]

    threading.Thread(target=write, daemon=True).start()
    chance = random.Random()
    late = 0.0
    while True:
        piece = os.read(source, 65536)
        stalled = STALL_S if chance.randrange(ONE_OF) == 0 else 0.0
        late = max(late, time.monotonic() + DELAY_S + stalled)  # the order stays
        waiting.put((late, piece))
        if not piece:
            return


def main() -> None:
    server = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    there = threading.Thread(target=carry, args=(0, server.fileno()))
    there.start()
    carry(server.fileno(), 1)
    there.join()


if __name__ == "__main__":
    main()
