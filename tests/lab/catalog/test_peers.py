"""Peers: declared in folders, found in the file system, named when they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from heapwise import __version__
from heapwise.catalog import (
    adhoc_peer,
    choose_peers,
    find_peers,
    peer_prefixes,
    read_elf,
    system_library,
    system_peer,
)
from heapwise.catalog.library_version import package_versions, soname_version, upstream
from heapwise.catalog.peer_file import peer_folder, read_declarations
from heapwise.errors import Problem
from heapwise.runner.plan.experiment_plan import usable

REPOSITORY = Path(__file__).parents[3]

EXPECTED = {"glibc", "heapwise", "jemalloc", "mimalloc", "tcmalloc", "tbbmalloc", "scudo"}


def test_the_peers_of_the_first_release_are_declared() -> None:
    assert {peer.name for peer in find_peers()} >= EXPECTED


def test_every_peer_says_how_to_get_it_and_is_known_when_it_is_here() -> None:
    for peer in find_peers():
        assert peer.get
        assert peer.title
        assert peer.licence
        assert peer.environment_prefixes or "reads no environment" in peer.notes
        if peer.path is not None:
            assert peer.version
            assert peer.version != "unknown version"
            assert len(peer.build_id) == 40 or "it has no build id" in peer.notes
        if peer.path:
            assert read_elf(peer.path) is not None


def test_the_systems_own_is_first_and_has_no_path() -> None:
    peers = find_peers()
    assert (peers[0].name, peers[0].path, peers[0].kind) == ("glibc", "", "system")
    assert peers[0].version == (os.confstr("CS_GNU_LIBC_VERSION") or "").split()[1]
    facts = read_elf(system_library())
    assert facts is not None
    assert peers[0].build_id == facts.build_id


def test_chosen_peers_are_as_among_all() -> None:
    """Only the chosen ones are looked at."""
    everything = {peer.name: peer for peer in find_peers()}
    assert find_peers(["mimalloc", "glibc"]) == [everything["glibc"], everything["mimalloc"]]
    assert system_peer() == everything["glibc"]
    present, missing = choose_peers(["jemalloc", "heapwise"])
    assert [*present, *missing] == sorted(
        (everything["jemalloc"], everything["heapwise"]), key=lambda peer: peer.path is None
    )
    prefixes = {p for peer in everything.values() for p in peer.environment_prefixes}
    assert set(peer_prefixes()) == prefixes


def test_a_library_by_path_stands_in_for_the_peer_of_its_name() -> None:
    """It is tuned by the same variables."""
    file = system_library()
    ((library,), missing) = choose_peers(["jemalloc"], [f"jemalloc={file}"])
    assert (library.path, missing) == (file, [])
    assert library.environment_prefixes == find_peers(["jemalloc"])[0].environment_prefixes != []
    present, missing = choose_peers([], [f"mine={file}"])
    assert "mine" in {peer.name for peer in present}
    assert {peer.name for peer in [*present, *missing]} == {"mine"} | {
        peer.name for peer in find_peers() if not peer.on_request
    }


def declare(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "peer.toml").write_text(text)


def toml(libraries: str, folders: Path, more: str = "") -> str:
    return (
        f'title = "T"\nkind = "preload"\nlibraries = {libraries}\nfolders = ["{folders}"]\n'
        f'get = "apt install it"\nlicence = "MIT"\n{more}'
    )


def test_a_folder_is_all_that_a_new_peer_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "lib-9", tmp_path / "lib-10"
    for folder in here:
        folder.mkdir()
        shutil.copy(system_library(), folder / "libnew.so.1")
    peers = tmp_path / "peers"
    declare(peers, "new", toml('["libnew.so.1"]', tmp_path / "lib-*"))
    declare(peers, "absent", toml('["libabsent.so.77"]', tmp_path))
    monkeypatch.setenv("HEAPWISE_PEERS", str(peers))
    found = {peer.name: peer for peer in find_peers()}
    assert found["new"].path == str(here[1] / "libnew.so.1"), "the newest version counts"
    assert found["new"].version == "so.1"
    assert found["absent"].path is None
    present, missing = choose_peers([])
    assert ([p.name for p in present], [p.name for p in missing]) == (["new"], ["absent"])


def test_ours_is_looked_for_among_our_own_parts_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another installation's must not pass for the one that is measured."""
    elsewhere, native = tmp_path / "elsewhere", tmp_path / "native"
    for folder in (elsewhere, native):
        folder.mkdir()
    shutil.copy(system_library(), elsewhere / "libours.so")
    declare(tmp_path / "peers", "ours", toml('["libours.so"]', elsewhere, "ours = true"))
    monkeypatch.setenv("HEAPWISE_PEERS", str(tmp_path / "peers"))
    monkeypatch.setenv("HEAPWISE_NATIVE", str(native))
    assert find_peers()[0].path is None
    shutil.copy(system_library(), native / "libours.so")
    found = find_peers()[0]
    assert (found.path, found.version) == (str(native / "libours.so"), __version__)
    monkeypatch.setenv("HEAPWISE_NATIVE", str(tmp_path / "gone"))
    assert find_peers()[0].path is None, "a laptop without native parts can list peers"


@pytest.mark.parametrize(
    ("name", "is_debug"), [("libmimalloc-debug.so.2", True), ("libmimalloc-secure.so.2", False)]
)
def test_debug_builds_are_known_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_debug: bool
) -> None:
    """V18."""
    shutil.copy(system_library(), tmp_path / name)
    declare(tmp_path / "peers", "m", toml(f'["{name}"]', tmp_path))
    monkeypatch.setenv("HEAPWISE_PEERS", str(tmp_path / "peers"))
    assert [peer.debug_build for peer in find_peers()] == [is_debug]


def test_no_peer_calls_a_hardened_build_a_debug_build() -> None:
    """mimalloc-secure guards against attacks; it is optimised and has no assertions."""
    for file in sorted((REPOSITORY / "peers").glob("*/peer.toml")):
        names = tomllib.loads(file.read_text()).get("debug_names", [])
        assert not [name for name in names if fnmatch("libmimalloc-secure.so.2", name)], file


def test_a_library_without_a_version_has_the_begin_of_its_build_id(built_native: Path) -> None:
    peer = adhoc_peer(f"mine={built_native / 'libheapwise-malloc-guarded.so'}")
    assert peer.version == (f"build {peer.build_id[:8]}" if peer.build_id else "unknown version")


def test_a_debug_build_given_by_path_is_known(tmp_path: Path) -> None:
    file = tmp_path / "libtcmalloc_minimal_debug.so"
    shutil.copy(system_library(), file)
    assert adhoc_peer(f"mine={file}").debug_build
    assert not adhoc_peer(f"mine={system_library()}").debug_build


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("jemalloc", "E003"),
        ("=/x.so", "E003"),
        ("a b=/x.so", "E003"),
        ("x=", "E003"),
        ("x=/no/such.so", "E053"),
    ],
)
def test_malformed_adhoc_peers(text: str, id: str) -> None:
    with pytest.raises(Problem) as caught:
        adhoc_peer(text)
    assert caught.value.id == id


def test_the_loader_takes_no_path_with_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "my libs"
    folder.mkdir()
    (folder / "x.so").write_text("")
    with pytest.raises(Problem, match="space or colon"):
        adhoc_peer(f"x={folder}/x.so")


@pytest.mark.parametrize("text", ["title = 1", "not toml at all [", 'colour = "red"'])
def test_a_peer_file_with_mistakes_is_named(tmp_path: Path, text: str) -> None:
    declare(tmp_path, "bad", text)
    with pytest.raises(Problem, match=r"bad/peer\.toml"):
        read_declarations(tmp_path)


def test_the_folder_of_the_checkout_is_found() -> None:
    assert (peer_folder() / "jemalloc" / "peer.toml").exists()


@pytest.mark.parametrize(
    ("debian", "theirs"),
    [
        ("5.3.0-1", "5.3.0"),
        ("2.36-9+deb12u10", "2.36"),
        ("1:16.0.6-15~deb12u1", "16.0.6"),
        ("2.0.9+ds-2", "2.0.9"),
    ],
)
def test_upstream_versions(debian: str, theirs: str) -> None:
    assert upstream(debian) == theirs


def test_versions_come_from_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("dpkg-query"):
        pytest.skip("no Debian")
    said = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "libc6"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert package_versions([system_library()])[system_library()] == upstream(said)
    assert package_versions([str(tmp_path / "nobody.so")]) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = [system_library(), str(tmp_path / "other.so")]
    assert package_versions(asked) == {system_library(): upstream(said)}, "is asked once"
    assert soname_version("/x/libfoo.so.2.1") == "so.2.1"
    assert soname_version("/x/libfoo.so") == "unknown version"


def test_a_peer_on_request_is_compared_only_where_it_is_named() -> None:
    """The profiles that check every free do other work than the rest."""
    present, missing = choose_peers([])
    assert not any(peer.on_request for peer in [*present, *missing])
    present, missing = choose_peers(["heapwise-guarded"])
    [guarded] = [replace(peer, path="here") for peer in [*present, *missing]]
    assert guarded.on_request
    assert guarded.protection == "guarded"
    assert usable([guarded]) == []
    assert usable([guarded], ["malloc@heapwise-guarded"]) == [guarded]


def test_a_peer_that_only_checks_better_is_never_compared_unasked() -> None:
    """Peers with a protection stand beside plain ones only where they are named, except for scudo,
    which a Linux distribution brings as its usual malloc."""
    for declared in read_declarations():
        one = declared.declaration
        is_glibc_with_settings = one.kind == "system" and bool(one.environment)
        checks_better = one.protection != "plain" and declared.name != "scudo"
        assert one.on_request == (checks_better or is_glibc_with_settings)


def test_an_unknown_protection_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    text = (peer_folder() / "heapwise-guarded" / "peer.toml").read_text()
    (folder / "peer.toml").write_text(text.replace('"guarded"', '"perfect"'))
    with pytest.raises(Problem, match="is not a peer"):
        read_declarations(tmp_path)
