"""Experiments: found by folder, described by themselves, asked only once."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from heapwise import natives as native_module
from heapwise.catalog import (
    broken_experiments,
    choose_experiments,
    find_experiments,
    native_folder,
)
from heapwise.catalog import experiments as experiments_module
from heapwise.errors import Problem
from heapwise.model import Experiment


@pytest.fixture(autouse=True)
def _native(fake_native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEAPWISE_NATIVE", str(fake_native))


def test_patterns() -> None:
    def ids(*patterns: str) -> list[str]:
        return [experiment.id for experiment in choose_experiments(patterns)]

    assert ids() == ids("all") == ["fake/single", "fake/subjects"]
    assert ids("fake/*") == ids()
    assert ids("fake") == ids("fake/") == ids()
    assert ids("*/single") == ["fake/single"]
    assert ids("fake/subjects", "fake/subjects") == ["fake/subjects"]


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("fake/singel", "fake/single"),
        ("single", "fake/single"),
        ("cache/subjects", "fake/subjects"),
    ],
)
def test_the_nearest_is_offered(pattern: str, near: str) -> None:
    with pytest.raises(Problem, match=f"did you mean {near}") as caught:
        choose_experiments([pattern])
    assert caught.value.id == "E001"


def test_a_binary_is_asked_once_until_it_changes(fake_native: Path) -> None:
    log = fake_native / "asked"
    script = fake_native / "experiments" / "fake" / "single"
    script.write_text(f"#!/bin/sh\necho x >> {log}\nexit 1\n")
    find_experiments()
    assert [broken.path for broken in broken_experiments()] == [script]
    assert log.read_text().count("x") == 1
    script.write_text(f"#!/bin/sh\necho x >> {log}\nexit 2\n")
    assert "ended with 2" in broken_experiments()[0].reason
    assert log.read_text().count("x") == 2


@pytest.mark.parametrize("answer", ["", "{}", "[]", "nonsense", '{"schema": 1, "id": 5}'])
def test_other_answers_are_broken(fake_native: Path, answer: str) -> None:
    script = fake_native / "experiments" / "fake" / "single"
    script.write_text(f"#!/bin/sh\necho '{answer}'\n")
    assert [experiment.id for experiment in find_experiments()] == ["fake/subjects"]
    assert len(broken_experiments()) == 1


def test_the_native_folder(
    tmp_path: Path, fake_native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native_folder() == fake_native
    monkeypatch.setenv("HEAPWISE_NATIVE", str(tmp_path / "none"))
    with pytest.raises(Problem) as caught:
        native_folder()
    assert caught.value.id == "E052"
    monkeypatch.delenv("HEAPWISE_NATIVE")
    monkeypatch.setattr(native_module, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(native_module, "CHECKOUT", tmp_path / "checkout")
    for preset in ("asan", "release", "dev"):
        folder = tmp_path / "checkout" / "build" / preset / "native"
        folder.mkdir(parents=True)
        (folder / "heapwise-launch").write_text("")
    assert native_folder().parts[-2] == "release"
    inside = tmp_path / "package" / "native"
    inside.mkdir(parents=True)
    (inside / "heapwise-launch").write_text("")
    assert native_folder() == inside


def test_one_thread_decodes_all_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """msgspec crashes if two threads decode a type for the first time at once."""
    decoders: list[threading.Thread] = []

    def decode(answer: bytes, type: type[Experiment]) -> Experiment:
        decoders.append(threading.current_thread())
        return msgspec.json.Decoder(type).decode(answer)

    monkeypatch.setattr(experiments_module, "_described", {})
    monkeypatch.setattr(experiments_module.msgspec.json, "decode", decode)
    assert len(find_experiments()) > 1
    assert set(decoders) == {threading.current_thread()}
