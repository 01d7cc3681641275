"""The schemas are those of the model, and what is written satisfies them."""

from __future__ import annotations

import importlib.util
import json
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import msgspec
import pytest
from synthetic import compare_run, pool_run

from heapwise.analysis import analyse, to_json
from heapwise.evidence import Evidence
from heapwise.store import StoredRun

ROOT = Path(__file__).resolve().parents[3]

FROZEN = sorted((ROOT / "tests" / "data" / "runs").glob("*/run.json"))


def load_generator() -> ModuleType:
    found = importlib.util.spec_from_file_location("generate", ROOT / "schema" / "generate.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


GENERATOR = load_generator()


def schema(name: str) -> dict[str, Any]:
    text = (ROOT / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def accepts(name: str, document: Any) -> bool:
    return jsonschema.Draft202012Validator(schema(name)).is_valid(document)


@pytest.mark.parametrize("name", GENERATOR.DOCUMENTS)
def test_files_are_what_the_model_says(name: str) -> None:
    text = (ROOT / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert text == GENERATOR.text_of(name), "run: python schema/generate.py"
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("stored", [compare_run(), pool_run()])
def test_written_documents_satisfy_them(stored: StoredRun) -> None:
    run = msgspec.to_builtins(stored.run)
    assert accepts("run", run)
    assert all(accepts("experiment", e) for e in run["experiments"])
    assert all(
        accepts("sample", msgspec.to_builtins(r))
        for r in [*stored.processes[:5], *stored.samples[:5]]
    )
    assert accepts("result", to_json(analyse(Evidence(stored))))


def test_frozen_runs_are_there() -> None:
    assert FROZEN, "tests/data/runs holds no run"


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: path.parent.name)
def test_frozen_runs_satisfy_them(path: Path) -> None:
    assert accepts("run", json.loads(path.read_text(encoding="utf-8")))
    lines = (path.parent / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 10
    validator = jsonschema.Draft202012Validator(schema("sample"))
    for line in lines:
        validator.validate(json.loads(line))


def test_unknown_keys_are_allowed_and_missing_ones_are_not() -> None:
    run = msgspec.to_builtins(compare_run().run)
    assert accepts("run", {**run, "of_a_later_version": 1})
    for key in ("schema", "id", "plan", "machine", "state"):
        broken = deepcopy(run)
        del broken[key]
        assert not accepts("run", broken)
    assert not accepts("run", {**run, "state": "finished"})


def test_a_line_is_either_a_process_or_a_sample() -> None:
    line = msgspec.to_builtins(compare_run().samples[0])
    assert accepts("sample", line)
    assert not accepts("sample", {**line, "kind": "process"})
    assert not accepts("sample", {**line, "kind": "other"})
    assert not accepts("sample", {**line, "values": {"wall_time": "fast"}})
