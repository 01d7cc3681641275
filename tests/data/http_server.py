"""http_server.py PORT [KIND]: answers every request with a short page, and misbehaves if asked.

dies: ends after 30 requests. child: a second process, without what is preloaded. late: listens
after a minute. aborts: crashes when it is told to end. leaks: keeps 256 bytes of each request.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KIND = sys.argv[2] if len(sys.argv) > 2 else ""
KEPT: list[bytes] = []
PAGE = b"x" * 100


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and page are two writes; the second would wait 40 ms for the answer to the first, and a
    # second of load would be 12 ms of work.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if KIND in ("dies", "leaks"):
            KEPT.append(os.urandom(256))
        if KIND == "dies" and len(KEPT) > 30:
            os._exit(7)
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        pass


if KIND == "child":
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=clean)
if KIND == "aborts":
    signal.signal(signal.SIGTERM, lambda *_: os.abort())
if KIND == "late":
    time.sleep(60)
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("ready to serve", flush=True)
server.serve_forever()
