"""Brings files to hosts: by their hash, once to each host, and only if it lacks them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from heapwise.errors import Problem
from heapwise.fleet.job import Job, ShippedFile
from heapwise.fleet.shipped import Parcel, receive

Task = Callable[[bytes], bytes]
Submit = Callable[[Task, bytes, str], Any]
"""A task, its argument and the address of a worker to a future."""


@dataclass(frozen=True)
class _Sent:
    future: Any
    address: str

    @property
    def problem(self) -> str:
        """Why it did not come; "" if it did. Requires that it is no longer on its way."""
        if self.future.status != "finished":
            return f"a file was not brought: the engine said {self.future.status}"
        return str(self.future.result().decode())


class FileTransfers:
    """Over one connection. Machines whose ``place`` is equal share what is brought to one of
    them."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self._sent: dict[tuple[str, str], _Sent] = {}
        self._waiting: dict[str, list[tuple[str, str]]] = {}
        self._served: set[tuple[str, tuple[str, str]]] = set()

    def bring(self, job: Job, place: str, missing: Sequence[str], address: str) -> None:
        """Begins to send what is not there and not on its way. Problem E056 if a file has changed
        since the fleet run began."""
        files = job.all_files()
        parcels = [(place, sha256) for sha256 in missing]
        for parcel in parcels:
            if self._is_needed(job.machine, parcel):
                file = files[parcel[1]]
                content = msgspec.msgpack.encode(Parcel(job.folder, file, _content(file)))
                self._sent[parcel] = _Sent(self._submit(receive, content, address), address)
        self._waiting[job.machine] = parcels

    def arrived(self, known: Collection[str]) -> dict[str, str]:
        """Machines that need not wait any more, with why a file did not come, or "". known:
        addresses of workers that are connected; what is on its way to another one never comes."""
        for sent in self._sent.values():
            if not sent.future.done() and sent.address not in known:
                sent.future.cancel()
        found = {}
        for machine, parcels in list(self._waiting.items()):
            if all(self._sent[parcel].future.done() for parcel in parcels):
                found[machine] = "; ".join(
                    filter(None, (self._sent[parcel].problem for parcel in parcels))
                )
                self._served |= {(machine, parcel) for parcel in parcels}
                del self._waiting[machine]
        return found

    def __len__(self) -> int:
        return len(self._waiting)

    def _is_needed(self, machine: str, parcel: tuple[str, str]) -> bool:
        """Also if it came before and is gone again: a machine that was served asks once more."""
        sent = self._sent.get(parcel)
        if sent is None:
            return True
        return sent.future.done() and (sent.problem != "" or (machine, parcel) in self._served)


def _content(file: ShippedFile) -> bytes:
    try:
        content = Path(file.path).read_bytes()
    except OSError as error:
        raise Problem("E056", f"{file.path}: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise Problem(
            "E056", f"{file.path} has changed since the fleet run began", do="begin a new fleet run"
        )
    return content
