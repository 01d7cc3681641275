"""The peers that we declare: pinned, locked, and told how to get."""

from __future__ import annotations

import re
import tomllib

import pytest

from heapwise.builder import buildable
from heapwise.builder.build_ways import RECIPES
from heapwise.builder.fetch import LOCKS
from heapwise.catalog import Declared, PeerBuild

WANTED = {"jemalloc-current", "mimalloc2", "mimalloc3", "snmalloc", "rpmalloc", "tcmalloc-google"}
PEERS = buildable()


def test_the_peers_of_the_second_release_are_declared() -> None:
    assert {peer.name for peer in PEERS} >= WANTED


def of(peer: Declared) -> PeerBuild:
    assert peer.declaration.build is not None
    return peer.declaration.build


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_that_can_be_built_is_pinned(peer: Declared) -> None:
    build = of(peer)
    assert build.recipe in RECIPES
    assert peer.declaration.get == f"heapwise peers add {peer.name}"
    lock = (peer.path.parent / LOCKS[build.recipe]).read_text()
    if build.recipe == "wheel":
        pins = re.findall(r"^([\w-]+)==\S+ \\\n +--hash=sha256:[0-9a-f]{64}", lock, re.MULTILINE)
        assert build.wheel in pins
        return
    wanted = tomllib.loads((peer.path.parent / "Cargo.toml").read_text())["dependencies"]
    assert set(wanted) == {build.crate}
    assert wanted[build.crate].startswith("="), "any other would let the version move"
    locked = {p["name"]: p for p in tomllib.loads(lock)["package"]}
    assert locked[build.crate]["version"].partition("+")[0] == wanted[build.crate][1:]
    assert all(len(p["checksum"]) == 64 for name, p in locked.items() if name != "heapwise-peer")
