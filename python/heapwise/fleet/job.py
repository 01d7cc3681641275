"""What is sent to a machine and what comes back. Both travel as msgpack through the engine."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["waiting", "complete", "incomplete", "failed"]


class ShippedFile(msgspec.Struct, frozen=True):
    """A file that the command line names. content: empty if it is too large to be sent; then the
    machine must have a file of this hash at ``path``."""

    word: str
    path: str
    sha256: str
    executable: bool
    content: bytes = b""


class Job(msgspec.Struct, frozen=True):
    """A whole plan for one machine.

    words: the verb and its options. environment: the variables of the client's shell.
    stored_environment: the same as a run keeps it, for V20. folder: of the machine, "" for the
    user's data folder there. stall_s: the measuring process is killed if it stores nothing for this
    long; it can be resumed.
    """

    fleet: str
    machine: str
    words: list[str]
    environment: dict[str, str]
    stored_environment: dict[str, str]
    working_directory: str
    files: list[ShippedFile] = []
    folder: str = ""
    stall_s: float = 1800.0

    @property
    def run_id(self) -> str:
        return f"{self.fleet}-{self.machine}"


class Outcome(msgspec.Struct, frozen=True):
    """What a job came to. files: of the run folder, by their paths in it."""

    machine: str
    state: State
    exit_code: int = 0
    message: str = ""
    files: dict[str, bytes] = {}
    host: str = ""


def encode_job(job: Job) -> bytes:
    return msgspec.msgpack.encode(job)


def decode_outcome(content: bytes) -> Outcome:
    return msgspec.msgpack.decode(content, type=Outcome)
