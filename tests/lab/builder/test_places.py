"""A declaration names places; none of them may lead out of the peer's own folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_peer import Place, Told

from heapwise.builder import add_peer
from heapwise.builder.partial import publish
from heapwise.catalog import read_declarations
from heapwise.errors import Problem

HOSTILE = (
    [
        ('version = "1.0"', f'version = "{version}"')
        for version in (
            "",
            "..",
            ".",
            "../../../precious",
            "/tmp/precious",
            "a/b",
            ".partial-1",
            "-f",
        )
    ]
    + [
        ('library = "lib/libtoy.so.1"', f'library = "{library}"')
        for library in ("", ".", "..", "../libtoy.so.1", "/lib/libc.so.6", "lib/../../libtoy.so.1")
    ]
    + [
        ('source = "toy"', 'source = ".."'),
        ('source = "toy"', 'source = "/etc"'),
        ("configure = ", '"../configure" = '),
        ("script/configure", "../../etc/passwd"),
        ('target = "liball"', 'target = "liball"\nalso = ["../libmore.so"]'),
        ('target = "liball"', 'target = "liball"\nalso = ["sub/libmore.so"]'),
    ]
)


@pytest.mark.parametrize(("old", "new"), HOSTILE, ids=[new for _, new in HOSTILE])
def test_places_outside_are_refused_when_they_are_read(place: Place, old: str, new: str) -> None:
    file = place.declare().path
    precious = place.data / "precious"
    precious.mkdir(parents=True)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(Problem) as caught:
        read_declarations()
    assert caught.value.id == "E012"
    assert str(file) in caught.value.what
    assert precious.is_dir()


@pytest.mark.parametrize("name", ["logs", ".hidden", "with space", "-f"])
def test_a_folder_with_such_a_name_is_not_a_peer(place: Place, name: str) -> None:
    place.declare()
    place.peer.rename(place.peer.with_name(name))
    with pytest.raises(Problem) as caught:
        read_declarations()
    assert caught.value.id == "E012"


def test_publishing_removes_older_versions_and_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "peers" / "toy"
    for name, record in (("1.0", True), ("notes", False), (".partial-1-x", True)):
        (home / name).mkdir(parents=True)
        if record:
            (home / name / "made.json").write_text("{}")
    (home / "readme").write_text("mine")
    ready = home / ".partial-1-x" / "peer"
    ready.mkdir()
    publish(ready, home / "2.0")
    assert {path.name for path in home.iterdir()} == {"2.0", "notes", "readme", ".partial-1-x"}


def test_a_peer_is_added_beside_what_is_not_its_own(place: Place, told: Told) -> None:
    other = place.data / "heapwise" / "peers" / "toy" / "kept"
    other.mkdir(parents=True)
    (other / "file").write_text("mine")
    add_peer(place.declare(), told)
    add_peer(place.declare("1.1"), told)
    assert place.left() == ["toy/1.1/libtoy.so.1", "toy/1.1/made.json", "toy/kept/file"]
