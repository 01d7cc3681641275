"""The wheel of peers: it is written only if its allocators keep the promises of malloc, and the
command finds them where the wheel is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from toy_peer import BAD_MALLOC, Place, make_place

ROOT = Path(__file__).resolve().parents[2]
LOCK = '# locked\n[[package]]\nname = "toy-sys"\nversion = "0.9.1"\nchecksum = "abc"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = make_place(tmp_path)
    monkeypatch.setenv("HEAPWISE_PEERS", str(found.peer.parent))
    found.declare()
    (found.peer / "Cargo.lock").write_text(LOCK)
    (found.crate / "COPYING").write_text("a licence")
    return found


def environment(place: Place) -> dict[str, str]:
    return os.environ | {
        "PATH": f"{place.root / 'tools'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "python"),
        "XDG_DATA_HOME": str(place.data),
    }


def write_wheel(place: Place, dist: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools/peers_wheel.py", place.root / "work", dist]
    return subprocess.run(command, env=environment(place), capture_output=True, text=True)


@pytest.fixture
def wheel(place: Place) -> Path:
    done = write_wheel(place, place.root / "dist")
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = (place.root / "dist").glob("heapwise_peers-*-manylinux*.whl")
    return wheel


def test_an_allocator_of_the_installed_wheel_is_found_and_checked(
    place: Place, wheel: Path, built_native: Path
) -> None:
    site = place.root / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", site, wheel], check=True)
    found = environment(place) | {"PYTHONPATH": f"{ROOT / 'python'}:{site}"}

    def heapwise(*words: str) -> str:
        command = [sys.executable, "-m", "heapwise", *words]
        return subprocess.run(command, env=found, capture_output=True, text=True, check=True).stdout

    library = str(site / "heapwise_peers/peers/toy/1.0/libtoy.so.1")
    assert heapwise("peers", "path", "toy").strip() == library
    assert "loaded" in heapwise("peers", "check", "toy")
    [toy] = json.loads(heapwise("peers", "list", "--json"))
    assert toy["notes"].endswith(", from the wheel heapwise-peers")


def test_the_wheel_names_versions_hashes_and_licences(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        [row] = json.loads(file.read("heapwise_peers/peers.json"))
        assert (row["name"], row["version"], row["licence"]) == ("toy", "1.0", "MIT")
        assert (row["package"], row["package_sha256"]) == ("crate toy-sys 0.9.1", "abc")
        [text] = row["licence_texts"]
        assert file.read(f"heapwise_peers/peers/{text}") == b"a licence"
        assert list(row["libraries_sha256"]) == ["libtoy.so.1"]


@pytest.mark.parametrize("fault", ["a promise that is broken", "no licence text"])
def test_such_an_allocator_gets_into_no_wheel(place: Place, fault: str, built_native: Path) -> None:
    if fault == "no licence text":
        (place.crate / "COPYING").unlink()
    else:
        (place.crate / "toy" / "toy.c").write_text(BAD_MALLOC)
    done = write_wheel(place, place.root / "dist")
    assert done.returncode != 0
    assert not (place.root / "dist").exists()
