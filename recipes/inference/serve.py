"""An inference server: small pictures over HTTP, answered in batches by ONNX Runtime.

Usage: serve.py PORT PROGRAMS WHEELS

PROGRAMS: the folder of Heapwise's programs; the model is that of rl_onnxruntime. WHEELS: the folder
of the packages that they run with. A thread for each connection reads requests. One more thread
takes all that wait, at most 32, and runs the model once for them, as inference servers do.
"""

import os
import queue
import sys
import threading
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
PORT, PROGRAMS = int(sys.argv[1]), Path(sys.argv[2])
sys.path[:0] = [sys.argv[3], str(PROGRAMS), str(PROGRAMS / "rl_onnxruntime")]

import numpy  # noqa: E402
from infer import SIDE, model, session  # noqa: E402

LARGEST_BATCH = 32
PICTURE = SIDE * SIDE
waiting: "queue.SimpleQueue[tuple[bytes, Future[bytes]]]" = queue.SimpleQueue()


def answers(inference, pictures):
    """A line of fixed length for each picture: the class and its share."""
    batch = numpy.frombuffer(b"".join(pictures), dtype=numpy.uint8).astype(numpy.float32) / 255
    [shares] = inference.run(None, {"x": batch.reshape(len(pictures), 1, SIDE, SIDE)})
    best = shares.argmax(axis=1)
    return [b'{"class": %d, "share": %.6f}\n' % (c, shares[i, c]) for i, c in enumerate(best)]


def run_model():
    inference = session(model(), 1, arena=False)
    while True:
        batch = [waiting.get()]
        while len(batch) < LARGEST_BATCH and not waiting.empty():
            batch.append(waiting.get())
        try:
            lines = answers(inference, [picture for picture, _ in batch])
        except Exception as error:  # each request hears of it
            for _, answer in batch:
                answer.set_exception(error)
            continue
        for (_, answer), line in zip(batch, lines, strict=True):
            answer.set_result(line)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self):
        picture = self.rfile.read(int(self.headers["Content-Length"]))
        if len(picture) != PICTURE:
            self._answer(400, b"a picture has %d bytes\n" % PICTURE)
            return
        answer = Future()
        waiting.put((picture, answer))
        self._answer(200, answer.result())

    def do_GET(self):
        self._answer(200, b"ready\n")

    def _answer(self, status, line):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(line)))
        self.end_headers()
        self.wfile.write(line)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


threading.Thread(target=run_model, daemon=True).start()
Server(("127.0.0.1", PORT), Handler).serve_forever()
