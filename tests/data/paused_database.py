"""paused_database.py PORT PERIOD PAUSE: speaks as much of PostgreSQL's protocol as pgbench -n asks.

From the first query on it stands still for PAUSE of every PERIOD seconds, at the end of each.
"""

from __future__ import annotations

import selectors
import socket
import struct
import sys
import time

PORT, PERIOD, PAUSE = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
READY = b"Z" + struct.pack("!I", 5) + b"I"
LOGGED_IN = b"R" + struct.pack("!II", 8, 0)


def field(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


ANSWER = field(b"C", b"SELECT 1\0") + READY
DESCRIBED = field(b"T", struct.pack("!H", 1) + b"a\0" + struct.pack("!IhIhih", 0, 0, 25, -1, -1, 0))
ROW = field(b"D", struct.pack("!H", 1) + struct.pack("!I", 1) + b"1")


class Session:
    def __init__(self) -> None:
        self.begun = False
        self.held = b""

    def answers(self, data: bytes) -> bytes:
        self.held += data
        found = b""
        while True:
            start = 0 if not self.begun else 1
            if len(self.held) < start + 4:
                return found
            length = start + struct.unpack("!I", self.held[start : start + 4])[0]
            if len(self.held) < length:
                return found
            message, self.held = self.held[:length], self.held[length:]
            found += self._answer(message)

    def _answer(self, message: bytes) -> bytes:
        if not self.begun:
            code = struct.unpack("!I", message[4:8])[0]
            if code >> 16 == 1234:
                return b"N"  # neither TLS nor GSS
            self.begun = True
            version = field(b"S", b"server_version\x0015.0\0")
            return LOGGED_IN + version + READY
        return DESCRIBED + ROW + ANSWER if message[:1] == b"Q" else b""


def main() -> None:
    listener = socket.create_server(("127.0.0.1", PORT))
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    sessions: dict[socket.socket, Session] = {}
    next_pause = None
    while True:
        left = None if next_pause is None else max(0.0, next_pause - time.monotonic())
        for key, _ in waiting.select(left):
            if key.fileobj is listener:
                other, _ = listener.accept()
                other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sessions[other] = Session()
                waiting.register(other, selectors.EVENT_READ)
                continue
            other = key.fileobj
            data = other.recv(65536)
            if not data:
                waiting.unregister(other)
                other.close()
                continue
            if next_pause is None and sessions[other].begun:
                next_pause = time.monotonic() + PERIOD - PAUSE
            other.sendall(sessions[other].answers(data))
        if next_pause is not None and time.monotonic() >= next_pause:
            time.sleep(PAUSE)
            next_pause += PERIOD


main()
