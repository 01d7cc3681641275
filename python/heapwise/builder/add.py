"""From a declaration to a peer in the user's data folder: all of it, or nothing."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from heapwise.builder import tools
from heapwise.builder.build_ways import CMAKE_FILE, RECIPES, Built
from heapwise.builder.fetch import LOCKS
from heapwise.builder.partial import partial, publish
from heapwise.builder.workshop import BuildProgress, Workshop, plain_environment
from heapwise.catalog import (
    RECORD,
    AddedPeer,
    Declared,
    PeerBuild,
    added_folder,
    library_of,
    read_declarations,
    read_elf,
    read_record,
)
from heapwise.errors import Problem
from heapwise.wording.suggest import all_near

LICENCES = "licences"
"""The folder of licence texts beside the library of a peer."""

LICENCE_NAME = re.compile(r"(licen[cs]e|copying|notice|third-party)[^/]*", re.IGNORECASE)


@dataclass(frozen=True)
class Added:
    """``news`` is False for a peer that was there already, as its declaration wants it."""

    name: str
    record: AddedPeer
    path: str
    news: bool


def buildable() -> list[Declared]:
    """The peers that ``peers add`` knows how to make, by name."""
    return [peer for peer in read_declarations() if peer.declaration.build]


def choose_buildable(name: str) -> list[Declared]:
    """The named one, or every one for ``all``. Problem E002 for any other name."""
    peers = buildable()
    chosen = [peer for peer in peers if name in (peer.name, "all")]
    if chosen:
        return chosen
    names = [peer.name for peer in peers]
    others = {peer.name: peer for peer in read_declarations()}
    if name in others:
        near = [found for found in names if found.startswith(name)]
        also = f", but {' and '.join(near)}" if near else ""
        raise Problem(
            "E002", f"peers add does not build {name}{also}", do=others[name].declaration.get
        )
    if near := all_near(name, names):
        what = f"no peer '{name}' that can be built; did you mean {' or '.join(near)}?"
        raise Problem("E002", what, do=f"heapwise peers add {near[0]}")
    raise Problem(
        "E002",
        f"no peer '{name}' that can be built; there are {', '.join(names)}",
        do="heapwise peers list",
    )


def add_peer(peer: Declared, progress: BuildProgress, *, again: bool = False) -> Added:
    """Fetches, builds, proves and only then puts the peer into its place.

    Problems: E054 a tool is missing, E055 a step failed (its log is named), E050 no writable
    folder. Whatever happens, nothing half made is left where peers are looked for.
    """
    build = _build(peer)
    target = added_folder() / peer.name / build.version
    wanted = fingerprint(peer)
    record = read_record(peer.name, build.version)
    if record and record.recipe == wanted and not again:
        return Added(peer.name, record, str(library_of(peer.name, record)), news=False)
    tools.demand(peer.name, build)
    with partial(added_folder(), peer.name) as (folder, log):
        shop = Workshop(peer.name, folder, log, progress, plain_environment(os.environ))
        built = RECIPES[build.recipe](build, peer.path.parent, shop)
        record = _finish(peer, built, wanted, shop)
        publish(folder / "peer", target)
    return Added(peer.name, record, str(target / record.library), news=True)


def fingerprint(peer: Declared) -> str:
    """A hash of all that decides what is built: another one means that the peer is out of date."""
    build, folder = _build(peer), peer.path.parent
    digest = hashlib.sha256(msgspec.json.encode(build))
    for name in (LOCKS[build.recipe], CMAKE_FILE):
        if (folder / name).exists():
            digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]


def _build(peer: Declared) -> PeerBuild:
    assert peer.declaration.build is not None
    return peer.declaration.build


def _finish(peer: Declared, built: Built, wanted: str, shop: Workshop) -> AddedPeer:
    """Lays the library, its record and its licences into ``peer``, after a look at what it
    defines."""
    build, library = _build(peer), built.library
    shop.progress.step("looking at the library")
    facts = read_elf(library, symbols=True) if library.is_file() else None
    if facts is None:
        raise shop.failed(f"the build made no library {build.library}")
    if "malloc" not in facts.exported:
        raise shop.failed(f"{library.name} defines no malloc")
    if not facts.build_id and build.recipe != "wheel":
        raise shop.failed(f"{library.name} has no build id, so nothing could prove its use")
    ready = shop.folder / "peer"
    ready.mkdir()
    for name in (library.name, *build.also):
        shutil.copy(library.with_name(name), ready / name)
    record = AddedPeer(
        version=build.version,
        library=library.name,
        package=built.package,
        recipe=wanted,
        compiler="" if build.recipe == "wheel" else tools.compiler(),
        build_id=facts.build_id,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    (ready / RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2))
    _copy_licences(built.sources, ready / LICENCES)
    _copy_licences(peer.path.parent, ready / LICENCES)
    return record


def _copy_licences(sources: Path, folder: Path) -> None:
    """All licence texts of the package, in folders as there, so that the library can be passed
    on with them. A text beside the declaration is for a package that contains none."""
    for path in sorted(sources.rglob("*")):
        inside = path.relative_to(sources)
        if len(inside.parts) > 4 or not LICENCE_NAME.match(path.name) or not path.is_file():
            continue
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / inside)
