"""``peers/<name>/peer.toml``: what a peer declares of itself, checked key by key."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from heapwise.errors import Problem
from heapwise.model.stored import Protection
from heapwise.natives import CHECKOUT, PACKAGE

PEER_FILE = "peer.toml"
LOGS = "logs"
"""The folder of the logs beside those of the peers, so not the name of a peer."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


class PeerBuild(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How ``peers add`` makes a peer out of a package of a registry.

    ``version`` is the allocator's own; the package's is in the lock file beside the declaration.
    ``source`` is the folder in the crate that is built, ``bring`` puts files of the crate into it
    (new place: old place), ``library`` is what comes out, relative to the folder of the build;
    ``also`` are file names that it needs beside it.
    """

    version: str
    recipe: Literal["configure", "cmake", "wheel"]
    library: str
    crate: str = ""
    wheel: str = ""
    source: str = "."
    bring: dict[str, str] = {}
    options: list[str] = []
    target: str = ""
    also: list[str] = []


class Declaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """``libraries`` are file name patterns, the best first; ``folders`` are searched as well as the
    loader's own. One that is ``ours`` is looked for only among our own native parts, one with a
    ``build`` only where ``peers add`` puts it. ``environment_prefixes`` start the variables that
    tune this allocator; ``environment`` is what its makers tell every user of it to set. One
    ``on_request`` is compared only where it is named."""

    title: str
    kind: Literal["system", "preload"]
    get: str
    licence: str
    libraries: list[str] = []
    folders: list[str] = []
    package: str = ""
    environment_prefixes: list[str] = []
    environment: dict[str, str] = {}
    debug_names: list[str] = msgspec.field(default_factory=lambda: ["*debug*", "*-dbg*"])
    notes: str = ""
    known_faults: list[str] = []
    ours: bool = False
    on_request: bool = False
    protection: Protection = "plain"
    build: PeerBuild | None = None


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
    """All peers, by name. Problem E012 for a file that is not as it should be."""
    where = folder or peer_folder()
    return [_read(path) for path in sorted(where.glob(f"*/{PEER_FILE}"))]


def _read(path: Path) -> Declared:
    try:
        declaration = msgspec.convert(tomllib.loads(path.read_text()), Declaration)
    except (OSError, ValueError) as error:
        raise Problem(
            "E012", f"{path} is not a peer: {error}", do="see docs/how-to/add-peer.md"
        ) from error
    if wrong := _misplaced(path.parent.name, declaration.build):
        raise Problem(
            "E012",
            f"{path} is not a peer: {wrong}",
            why="What is built is put into folders of these names, which must not lead elsewhere.",
            do="see docs/how-to/add-peer.md",
        )
    return Declared(path.parent.name, declaration, path)


def _misplaced(name: str, build: PeerBuild | None) -> str:
    """The first name that could lead out of the peer's own folders; "" if there is none."""
    names = {"the folder's name": name} | (
        {}
        if build is None
        else {"version": build.version, **{f"also: {word}": word for word in build.also}}
    )
    for what, word in names.items():
        if not PLAIN_NAME.fullmatch(word) or word == LOGS:
            return f"{what} '{word}' is not a plain name"
    places = (
        {}
        if build is None
        else {
            "library": build.library,
            "source": build.source,
            **{f"bring: {new}": new for new in build.bring},
            **{f"bring: {old}": old for old in build.bring.values()},
        }
    )
    for what, word in places.items():
        path = PurePosixPath(word)
        if (
            not word
            or path.is_absolute()
            or ".." in path.parts
            or (what == "library" and not path.name)
        ):
            return f"{what} '{word}' is not a path below the sources"
    return ""
