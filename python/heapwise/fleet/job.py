"""What is sent to a machine and what comes back. Both travel as msgpack through the engine."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["waiting", "complete", "incomplete", "failed"]

STALL_S = 1800.0
"""A process that stores nothing for this long is taken to hang, unless the user says otherwise."""


LARGEST_BYTES = 64 << 20
"""The largest file that is sent to a machine that does not have it."""


class ShippedFile(msgspec.Struct, frozen=True):
    """A file that the command line names, or of a peer (then without a word). Its content is sent
    only to hosts that have no file of this hash, once to each."""

    word: str
    path: str
    sha256: str
    executable: bool
    size: int


class SentPeer(msgspec.Struct, frozen=True):
    """A peer that was built on the client. files: of its folder, by their paths in it."""

    name: str
    version: str
    files: dict[str, ShippedFile]


class Job(msgspec.Struct, frozen=True):
    """A whole plan for one machine.

    words: the verb and its options. environment: the variables of the client's shell.
    stored_environment: the same as a run keeps it, for V20. folder: of the machine, "" for the
    user's data folder there. stall_s: the measuring process is killed if it stores nothing for this
    long; it can be resumed. peers: that the client
    built, for machines whose programs are of this kind (``kind_of_programs``).
    """

    fleet: str
    machine: str
    words: list[str]
    environment: dict[str, str]
    stored_environment: dict[str, str]
    working_directory: str
    files: list[ShippedFile] = []
    folder: str = ""
    stall_s: float = STALL_S
    peers: list[SentPeer] = []
    kind: str = ""

    @property
    def run_id(self) -> str:
        return f"{self.fleet}-{self.machine}"

    def all_files(self) -> dict[str, ShippedFile]:
        """By their hashes."""
        files = [*self.files, *(file for peer in self.peers for file in peer.files.values())]
        return {file.sha256: file for file in files}


class JobOutcome(msgspec.Struct, frozen=True):
    """What a job came to. files: of the run folder, by their paths in it. missing: hashes of files
    that the machine does not have; nothing was measured, and the job is sent again after them.
    place: the host and its folder, which has one copy of each file for all names of the host."""

    machine: str
    state: State
    exit_code: int = 0
    message: str = ""
    files: dict[str, bytes] = {}
    host: str = ""
    missing: list[str] = []
    place: str = ""


def encode_job(job: Job) -> bytes:
    return msgspec.msgpack.encode(job)


def decode_outcome(content: bytes) -> JobOutcome:
    return msgspec.msgpack.decode(content, type=JobOutcome)
