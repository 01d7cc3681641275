"""The peers of this machine: declared in a folder each, found in the file system."""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from heapwise import __version__
from heapwise.catalog.added import is_packaged, library_of, newest_record
from heapwise.catalog.elf import ElfFacts, read_build_id, read_elf
from heapwise.catalog.library_version import UNKNOWN, package_versions, soname_version
from heapwise.catalog.peer_file import Declaration, Declared, PeerBuild, read_declarations
from heapwise.errors import Problem
from heapwise.model import GIVEN_BY_PATH, Peer
from heapwise.natives import native_folder
from heapwise.wording.suggest import did_you_mean

SYSTEM = "glibc"


def find_peers(names: Container[str] | None = None) -> list[Peer]:
    """Every declared peer, installed or not; the system's own first.

    names: only these, which is quicker.
    """
    declared = [peer for peer in _declarations() if names is None or peer.name in names]
    paths = {peer.name: find_library(peer) for peer in declared}
    packaged = [
        peer.name for peer in declared if not peer.declaration.ours and not peer.declaration.build
    ]
    versions = package_versions([path for name in packaged if (path := paths[name])])
    return [_resolve(peer, paths[peer.name], versions) for peer in declared]


def system_peer() -> Peer:
    """The C library's own malloc."""
    return next(iter(find_peers([SYSTEM])))


def peer_prefixes() -> list[str]:
    """Starts of the variables that tune any declared peer."""
    return [prefix for peer in _declarations() for prefix in peer.declaration.environment_prefixes]


def _declarations() -> list[Declared]:
    """The system's own first."""
    return sorted(
        read_declarations(), key=lambda peer: (peer.declaration.kind != "system", peer.name)
    )


def installed_peers() -> list[Peer]:
    return [peer for peer in find_peers() if peer.path is not None]


def choose_peers(names: Sequence[str], adhoc: Sequence[str] = ()) -> tuple[list[Peer], list[Peer]]:
    """(present, missing) of the named peers, or of all but those on request; ``adhoc`` are
    ``name=/path.so``.

    Problems: E002 unknown name, E003 malformed ``name=/path``, E029 no library.
    """
    declared = {peer.name: peer.declaration for peer in _declarations()}
    extra = {peer.name: peer for peer in (_extra_peer(text, declared) for text in adhoc)}
    known = [*declared, *(name for name in extra if name not in declared)]
    for name in names:
        if name not in known:
            raise Problem("E002", _unknown(name, known))
    wanted = (
        list(dict.fromkeys([*names, *extra]))
        if names
        else [name for name in known if name in extra or not declared[name].on_request]
    )
    found = {peer.name: peer for peer in find_peers(set(wanted) - set(extra))} | extra
    chosen = [found[name] for name in wanted]
    present = [peer for peer in chosen if peer.path is not None]
    return present, [peer for peer in chosen if peer.path is None]


def _extra_peer(text: str, declared: Mapping[str, Declaration]) -> Peer:
    """As ``--allocator`` has it: ``name=library``, or ``name:VARIABLE=value=library`` for a row
    with settings; more than one variable are words of one text. The library is a path, or the name
    of an allocator. Problems: those of ``adhoc_peer``, E053 for one that is not installed."""
    head, _, library = text.rpartition("=")
    name, colon, settings = head.partition(":")
    if not colon:
        return adhoc_peer(text, declared)
    try:
        words = [word.partition("=") for word in shlex.split(settings)]
    except ValueError:
        words = []
    if not words or not all(equals and variable.isidentifier() for variable, equals, _ in words):
        raise Problem(
            "E003",
            f"--allocator {text} is not of the form name:VARIABLE=value=library",
            do="--allocator 'one:MALLOC_ARENA_MAX=1=glibc', with the path of a library or the name "
            "of an allocator",
        )
    peer = _of_library(name, library, declared)
    environment = {variable: value for variable, _, value in words}
    return replace(peer, name=name, environment=peer.environment | environment)


def _of_library(name: str, library: str, declared: Mapping[str, Declaration]) -> Peer:
    if library not in declared:
        return adhoc_peer(f"{name}={library}", declared)
    peer = next(peer for peer in find_peers() if peer.name == library)
    if peer.path is None:
        raise Problem("E053", f"{library} is not installed", do=peer.get)
    return replace(peer, notes=GIVEN_BY_PATH)


def adhoc_peer(text: str, declared: Mapping[str, Declaration] | None = None) -> Peer:
    """``name=/path/to/lib.so`` as a peer. Running it shows whether it can be preloaded.

    declared: the variables that tune one of them tune a peer of the same name.
    Problems: E003 for another form, E029 for no shared library of this machine, E053 for no file.
    """
    name, equals, path = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", name) or not path:
        raise Problem("E003", f"--allocator {text} is not of the form name=/path/to/lib.so")
    file = Path(path).expanduser().absolute()
    if not file.is_file():
        raise Problem(
            "E053",
            f"--allocator {name}: there is no file {file}",
            do="give the path of a shared library",
        )
    if re.search(r"[\s:]", str(file)):
        raise Problem(
            "E029",
            f"--allocator {name}: the loader cannot preload a path with a space or colon: {file}",
            do="copy or link the library to another path",
        )
    like = (declared or {}).get(name)
    facts = _loadable(name, file)
    version = soname_version(str(file))
    if version == UNKNOWN and facts.build_id:
        version = f"build {facts.build_id[:8]}"
    return Peer(
        name=name,
        title=name,
        kind="preload",
        path=str(file),
        version=version,
        build_id=facts.build_id,
        get="",
        licence="unknown",
        environment_prefixes=like.environment_prefixes if like else [],
        notes=GIVEN_BY_PATH,
        debug_build=_is_debug(str(file), ["*debug*"]),
    )


def _loadable(name: str, file: Path) -> ElfFacts:
    """Problem E029 for a file that the loader of this machine cannot preload."""
    try:
        facts, own = read_elf(file), read_elf(sys.executable)
    except OSError as error:
        raise Problem(
            "E053",
            f"--allocator {name}: {file} cannot be read: {error.strerror}",
            do="give the path of a library that you may read",
        ) from error
    if facts is None or not facts.dynamic:
        raise Problem(
            "E029",
            f"--allocator {name}: {file} is not a shared library",
            do="give the path of a library, like /usr/lib/libjemalloc.so.2",
        )
    if own and (facts.machine, facts.bits) != (own.machine, own.bits):
        raise Problem(
            "E029",
            f"--allocator {name}: {file} is built for {facts.machine} "
            f"({facts.bits} bit), this machine is {own.machine} ({own.bits} bit)",
        )
    return facts


def system_library() -> str:
    """The C library that this process runs on, which is that of a program started here."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        path = line.split(maxsplit=5)[-1]
        if re.search(r"/(libc\.so\.6|libc-[\d.]+\.so|ld-musl[^/]*)$", path):
            return path
    return ""


def find_library(peer: Declared) -> str | None:
    """The newest file that fits the first pattern that any file fits; "" for the system's own."""
    declaration = peer.declaration
    if declaration.kind == "system":
        return ""
    if declaration.build:
        record = newest_record(peer.name, declaration.build.version)
        return str(library_of(peer.name, record)) if record else None
    folders = _own_folders() if declaration.ours else _folders(declaration)
    for pattern in declaration.libraries:
        pattern = pattern.replace("{machine}", platform.machine())
        found = [path for folder in folders for path in folder.glob(pattern)]
        if usable := [path for path in found if path.is_file()]:
            return str(max(usable, key=_natural))
    return None


def _own_folders() -> list[Path]:
    """None without native parts: others say what to do about that."""
    try:
        return [native_folder()]
    except Problem:
        return []


def _folders(declaration: Declaration) -> list[Path]:
    triplet = f"{platform.machine()}-linux-gnu"
    names = [
        f"/usr/local/lib/{triplet}",
        "/usr/local/lib",
        f"/usr/lib/{triplet}",
        f"/lib/{triplet}",
        "/usr/lib64",
        "/usr/lib",
        f"{sys.prefix}/lib",
    ]
    folders = [Path(name) for name in names]
    for pattern in declaration.folders:
        folders += sorted(Path("/").glob(pattern.lstrip("/")))
    return folders


def _natural(path: Path) -> list[tuple[int, str]]:
    """Orders llvm-9 before llvm-16, and a short name before the same with more to it."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _resolve(peer: Declared, path: str | None, versions: dict[str, str]) -> Peer:
    declaration = peer.declaration
    notes = declaration.notes
    if declaration.kind == "system":
        version, build_id = _system_identity()
    elif path is None:
        version, build_id = "", ""
    else:
        build_id = read_build_id(path)
        version = versions.get(path) or soname_version(path)
        if declaration.ours:
            version = __version__
    if path and declaration.build:
        version, origin = _made(peer.name, declaration.build)
        notes += f"; {origin}"
    return Peer(
        name=peer.name,
        title=declaration.title,
        kind=declaration.kind,
        path=path,
        version=version,
        build_id=build_id,
        get=declaration.get,
        licence=declaration.licence,
        environment_prefixes=list(declaration.environment_prefixes),
        notes=notes,
        environment=dict(declaration.environment),
        debug_build=_is_debug(path or "", declaration.debug_names),
        known_faults=list(declaration.known_faults),
        on_request=declaration.on_request,
        protection=declaration.protection,
    )


def _made(name: str, build: PeerBuild) -> tuple[str, str]:
    """The version that was added, and who built it from which sources."""
    record = newest_record(name, build.version)
    if record is None:
        return "unknown version", "of unknown origin"
    maker = f", built by {record.compiler}" if record.compiler else ", as its makers built it"
    wheel = ", from the wheel heapwise-peers" if is_packaged(library_of(name, record)) else ""
    return record.version, f"{record.package}{maker}{wheel}"


def _system_identity() -> tuple[str, str]:
    path = system_library()
    name = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else None
    version = (name or "").removeprefix("glibc ") or (
        package_versions([path] if path else []).get(path, "unknown version")
    )
    return version, read_build_id(path) if path else ""


def _is_debug(path: str, patterns: Sequence[str]) -> bool:
    """By name: mimalloc and gperftools call their checking builds so (V18)."""
    names = {Path(path).name, Path(path).resolve().name} if path else set()
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)


def _unknown(name: str, known: list[str]) -> str:
    hint = did_you_mean(name, known, f"known are {', '.join(known)}")
    return f"no allocator '{name}'{hint}"
