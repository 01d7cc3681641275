"""The native programs print exactly the keys that the model has fields for, with those types.

A fact that is added to a line needs a field in ``heapwise.model.facts``, and the other way round.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.inspect import ListType, UnionType, type_info

from heapwise.model import (
    Calls,
    Clock,
    CountLine,
    End,
    Identity,
    LauncherFacts,
    Library,
    Start,
    WorkCheck,
)
from heapwise.runner.process.stream import Refused, SampleLine


def fits(line: bytes, kind: type[msgspec.Struct], *, without: str = "") -> dict[str, Any]:
    """The line, after its keys were compared with the fields, in the structs within it too.

    ``without``: a key that only says of which kind the line is.
    """
    msgspec.json.decode(line, type=kind)
    found: dict[str, Any] = json.loads(line)
    compare(found, kind, without)
    return found


def compare(found: dict[str, Any], kind: type[msgspec.Struct], without: str = "") -> None:
    assert found.keys() - {without} == set(kind.__struct_fields__), kind.__name__
    for field in msgspec.structs.fields(kind):
        inner, value = struct_of(field.type), found[field.encode_name]
        if inner is not None and value is not None:
            for each in value if isinstance(value, list) else [value]:
                compare(each, inner)


def struct_of(annotation: Any) -> type[msgspec.Struct] | None:
    """The struct in a field's type, which may be optional, and may be a list of it."""
    info = type_info(annotation)
    kinds = info.types if isinstance(info, UnionType) else (info,)
    kinds = tuple(kind.item_type if isinstance(kind, ListType) else kind for kind in kinds)
    return next((kind.cls for kind in kinds if hasattr(kind, "cls")), None)


@pytest.mark.parametrize("words", [["exit", "0"], ["crash"]])
def test_the_launcher(native: Path, toy: str, tmp_path: Path, words: list[str]) -> None:
    result = tmp_path / "result"
    subprocess.run([native / "heapwise-launch", "--result", result, "--", toy, *words], check=True)
    fits(result.read_bytes(), LauncherFacts)


def test_the_launcher_with_a_probe(native: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    subprocess.run(
        [native / "heapwise-launch", "--result", result, "--", "/usr/bin/env", "-i", "/bin/true"],
        check=True,
        env={
            "LD_PRELOAD": str(native / "libheapwise-probe.so"),
            "HEAPWISE_PROBE_OUT": str(tmp_path / "probe"),
        },
    )
    found = fits(result.read_bytes(), LauncherFacts)
    assert found["probe"]["lost"]
    assert found["counters"] or found["counters_missing"]
    (line,) = (tmp_path / "probe").read_bytes().splitlines()
    fits(line, Identity)


@pytest.mark.parametrize(
    ("library", "variable", "kind"),
    [
        ("libheapwise-probe.so", "HEAPWISE_PROBE_OUT", Identity),
        ("libheapwise-count.so", "HEAPWISE_COUNT_OUT", CountLine),
    ],
)
@pytest.mark.parametrize("program", ["toy", "/bin/true"])
def test_the_probes(
    native: Path,
    toy: str,
    tmp_path: Path,
    program: str,
    library: str,
    variable: str,
    kind: type[msgspec.Struct],
) -> None:
    """Of a program with ``operator new``, and of one without it."""
    out = tmp_path / "out"
    subprocess.run(
        [toy, "exit", "0"] if program == "toy" else [program],
        check=True,
        env={"LD_PRELOAD": str(native / library), variable: str(out)},
    )
    (line,) = out.read_bytes().splitlines()
    fits(line, kind)


LINES: dict[str, type[msgspec.Struct]] = {
    "start": Start,
    "sample": SampleLine,
    "check": WorkCheck,
    "refused": Refused,
    "end": End,
}


@pytest.mark.parametrize(
    ("experiment", "words", "kinds"),
    [
        ("pool/bulk", ["--subject", "malloc"], {"start", "sample", "check", "end"}),
        (
            "concurrency/queue_message_size",
            ["--subject", "mutex", "--set", "payload=17"],
            {"start", "refused"},
        ),
    ],
)
def test_an_experiment(native: Path, experiment: str, words: list[str], kinds: set[str]) -> None:
    """With a planted cost, since that has a key of its own."""
    done = subprocess.run(
        [native / "experiments" / experiment, "--smoke", "--self-test", "--plant-ns", "1", *words],
        check=True,
        stdout=subprocess.PIPE,
        timeout=120,
    )
    seen = set()
    for line in done.stdout.splitlines():
        kind = json.loads(line)["kind"]
        seen.add(kind)
        fits(line, LINES[kind], without="" if kind in ("start", "end") else "kind")
    assert seen == kinds


def test_a_fact_without_a_field_and_a_field_without_a_fact_are_found() -> None:
    whole = {"resolution_ns": 1, "overhead_ns": 2.5}
    fits(json.dumps(whole).encode(), Clock)
    for other in ({**whole, "novelty": 1}, {"resolution_ns": 1}):
        with pytest.raises(AssertionError):
            fits(json.dumps(other).encode(), Clock)
    nested = {"repeat": 0, "values": {}, "facts": {}}
    with pytest.raises(AssertionError, match="SampleFacts"):
        fits(json.dumps(nested).encode(), SampleLine)
    assert {struct_of(f.type) for f in msgspec.structs.fields(Start)} == {None, Clock, Library}
    assert struct_of(msgspec.structs.fields(CountLine)[2].type) is Calls
