"""``peers add`` and ``peers remove`` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_peer import BAD_MALLOC, Place

from heapwise.cli.frame.app import run

pytestmark = pytest.mark.usefixtures("built_native")


def second(place: Place, name: str) -> Path:
    """One more peer, with the same sources."""
    folder = place.peer.parent / name
    folder.mkdir()
    for file in place.peer.iterdir():
        (folder / file.name).write_text(file.read_text())
    return folder


def test_a_peer_is_added_tested_listed_and_removed(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.declare()
    assert run(["peers", "list"]) == 0
    assert "toy missing     ->  heapwise peers add toy" in capsys.readouterr().out
    assert run(["peers", "add", "toy"]) == 0
    said = capsys.readouterr()
    path = f"{place.data}/heapwise/peers/toy/1.0/libtoy.so.1"
    assert said.out.startswith("toy 1.0  ready after ")
    assert said.out.endswith(f"  {path}\n")
    assert "toy: compiling" in said.err
    assert run(["peers", "add", "toy", "--quiet"]) == 0
    said = capsys.readouterr()
    assert "here already" in said.out
    assert said.err == ""
    assert run(["peers", "check", "toy"]) == 0
    assert run(["peers", "path", "toy"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == path
    assert run(["peers", "remove", "toy"]) == 0
    assert run(["peers", "remove", "toy"]) == 5
    assert place.left() == []


def test_json(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.declare()
    assert run(["peers", "add", "all", "--json"]) == 0
    [result] = json.loads(capsys.readouterr().out)
    assert (result["name"], result["version"], result["trouble"]) == ("toy", "1.0", "")


def test_one_failure_does_not_stop_the_others(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.declare()
    (second(place, "able") / "Cargo.lock").write_text("nothing")
    assert run(["peers", "add", "all"]) == 5
    said = capsys.readouterr()
    assert "error E055: able" in said.err
    assert "toy 1.0  ready" in said.out


def test_a_peer_that_breaks_its_promises_is_reported(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.declare()
    (place.crate / "toy" / "toy.c").write_text(BAD_MALLOC)
    assert run(["peers", "add", "toy"]) == 4
    assert "FAILED its test: calloc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["add", "nobody"], 2, "no peer 'nobody'"),
        (["add"], 2, "NAME"),
        (["remove", "nobody"], 2, "no peer 'nobody'"),
        (["remove", "toy"], 5, "was not added"),
    ],
)
def test_bad_usage(
    place: Place, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    place.declare()
    assert run(["peers", *words]) == code
    assert said in capsys.readouterr().err
