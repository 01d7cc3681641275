"""Peers that ``peers add`` built on the client, for machines whose programs are of the same kind.

Each machine then measures the same builds. A machine of another kind keeps its own: what a plan
needs and it lacks is named by the plan.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from heapwise.fleet.job import LARGEST_BYTES, SentPeer, ShippedFile


def kind_of_programs() -> str:
    """Equal on two machines if a library that one of them built runs on the other."""
    return f"{platform.machine()} {os.confstr('CS_GNU_LIBC_VERSION')}"


def added_peers() -> list[SentPeer]:
    """Those of this machine that a plan may use, in the version that it would use. One with a file
    that is too large to be sent is left out."""
    from heapwise.catalog import find_peers
    from heapwise.catalog.added import versions_of

    used = {str(Path(peer.path).parent): peer.name for peer in find_peers() if peer.path}
    folders = [
        (name, folder)
        for name in sorted(set(used.values()))
        for folder in versions_of(name)
        if str(folder) in used
    ]
    peers = [SentPeer(name, folder.name, _files(folder)) for name, folder in folders]
    return [
        peer for peer in peers if all(file.size <= LARGEST_BYTES for file in peer.files.values())
    ]


def place_peer(peer: SentPeer, found: Mapping[ShippedFile, str], base: Path) -> Path:
    """A folder that has this peer as ``peers add`` would have left it. found: where this machine
    has the files. OSError if there is no room."""
    root = base / "peers" / _digest(peer)
    if root.is_dir():
        return root
    part = root.with_name(f".{root.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    try:
        for inside, file in peer.files.items():
            path = part / peer.name / peer.version / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found[file], path)
            path.chmod(0o700 if file.executable else 0o600)
        part.replace(root)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        if not root.is_dir():  # else another worker of this machine was first
            raise
    return root


def _files(folder: Path) -> dict[str, ShippedFile]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            found[str(path.relative_to(folder))] = ShippedFile(
                "", str(path), digest, os.access(path, os.X_OK), path.stat().st_size
            )
    return found


def _digest(peer: SentPeer) -> str:
    named = [(inside, file.sha256) for inside, file in sorted(peer.files.items())]
    return hashlib.sha256(msgspec.json.encode([peer.name, peer.version, named])).hexdigest()
