"""``peers/<name>/peer.toml``: what a peer declares of itself, checked key by key."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from heapwise.catalog.native import CHECKOUT, PACKAGE
from heapwise.errors import Problem

PEER_FILE = "peer.toml"


class Declaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """``libraries`` are file name patterns, the best first; ``folders`` are searched as well as the
    loader's own. ``environment_prefixes`` start the variables that tune this allocator."""

    title: str
    kind: Literal["system", "preload"]
    get: str
    licence: str
    libraries: list[str] = []
    folders: list[str] = []
    package: str = ""
    environment_prefixes: list[str] = []
    debug_names: list[str] = msgspec.field(default_factory=lambda: ["*debug*", "*-dbg*"])
    notes: str = ""
    known_faults: list[str] = []


@dataclass(frozen=True)
class Declared:
    """A declaration with the name of its folder, which is the peer's."""

    name: str
    declaration: Declaration
    path: Path = field(compare=False)


def peer_folder() -> Path:
    """``HEAPWISE_PEERS``, else the package's own folder, else that of the checkout."""
    if configured := os.environ.get("HEAPWISE_PEERS"):
        return Path(configured)
    inside = PACKAGE / "peers"
    return inside if inside.is_dir() else CHECKOUT / "peers"


def read_declarations(folder: Path | None = None) -> list[Declared]:
    """All peers, by name. Problem E003 for a file that is not as it should be."""
    where = folder or peer_folder()
    return [_read(path) for path in sorted(where.glob(f"*/{PEER_FILE}"))]


def _read(path: Path) -> Declared:
    try:
        declaration = msgspec.convert(tomllib.loads(path.read_text()), Declaration)
    except (OSError, ValueError) as error:
        raise Problem("E003", f"{path} is no peer: {error}", do="see docs/how-to/add-peer.md") \
            from error
    return Declared(path.parent.name, declaration, path)
