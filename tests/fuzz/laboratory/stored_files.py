"""Stored runs that somebody or something changed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import hostile
import msgspec
from synthetic import Script, compare_run, pool_run
from synthetic_heap import Heap, heap_run
from synthetic_shelf import Shelf, shelf_run
from synthetic_trees import Trees, trees_run

from heapwise.model import EnvironmentMarks, FileState, Planted, SelfTest
from heapwise.store import StoredRun, index
from heapwise.store.listing import FEW

RUNS = Path(__file__).resolve().parents[2] / "data" / "runs"
MOST_LINES = 160

Files = dict[str, bytes]
"""Path below the store -> content."""


@cache
def good_runs() -> list[tuple[str, bytes, list[bytes]]]:
    """Id, run.json and the lines of samples.jsonl of each run that is changed."""
    shortest = {"glibc": 1.0, "glibc-control": 1.0, "mimalloc": 0.9}
    synthetic = [
        compare_run(Script(rounds=6, time=shortest, memory=shortest)),
        pool_run(2, repeats=2),
        pool_run(6, repeats=1, threads=(1, 2)),
        heap_run(Heap(rounds=6, threads=(1, 2))),
        shelf_run(Shelf(rounds=6)),
        trees_run(Trees(rounds=6)),
    ]
    runs = [_written(stored, f"5a1{place}") for place, stored in enumerate(synthetic)]
    for folder in sorted(RUNS.iterdir()):
        lines = (folder / "samples.jsonl").read_bytes().splitlines()
        runs.append((folder.name, (folder / "run.json").read_bytes(), lines[:MOST_LINES]))
    return runs


def _written(stored: StoredRun, id: str) -> tuple[str, bytes, list[bytes]]:
    document = msgspec.to_builtins(stored.run)
    document["id"] = id
    document["self_test"] = msgspec.to_builtins(_self_test())
    document["plan"]["options"]["environment_marks"] = msgspec.to_builtins(
        EnvironmentMarks("key", {"PATH": "mark"})
    )
    document["plan"]["options"]["files"] = msgspec.to_builtins(
        {"program": FileState("/usr/bin/toy", 4096, 1, "00ff")}
    )
    samples: dict[int, list[Any]] = {}
    for sample in stored.samples:
        samples.setdefault(sample.process, []).append(sample)
    lines: list[bytes] = []
    for process in stored.processes:
        lines += [msgspec.json.encode(record) for record in samples.get(process.number, [])]
        lines.append(msgspec.json.encode(process))
    return id, json.dumps(document, indent=1).encode(), lines[: MOST_LINES * 2]


def _self_test() -> SelfTest:
    planted = [
        Planted("V1", "a preload that is dropped", "found", "in 3 of 3"),
        Planted("V6", "1 % of time", "too noisy", "the noise floor is 4 %"),
    ]
    return SelfTest("2026-01-01T00:00:00Z", "0.1.0", "build", "machine", 60.0, planted)


def changed_store(random: Random) -> tuple[str, Files]:
    """The id of a run, and the files of a store that holds it."""
    id, run, lines = random.choice(good_runs())
    lines = list(lines)
    document: Any = json.loads(run)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        document, lines = random.choice(CHANGES)(random, document, lines)
    head = json.dumps(document, ensure_ascii=random.random() < 0.7, indent=1).encode(
        errors=random.choice(["surrogatepass", "replace"])
    )
    body = b"".join(line + b"\n" for line in lines)
    if random.random() < 0.15:
        head = _bytes_changed(random, head)
    if random.random() < 0.15:
        body = _bytes_changed(random, body)
    if random.random() < 0.02:
        head, body = body, head
    return id, {
        f"runs/{id}/run.json": head,
        f"runs/{id}/samples.jsonl": body,
        **_others(random, id),
    }


def _others(random: Random, id: str) -> Files:
    """Files beside the run: of another run, of the self-tests, and an index if there is one."""
    files: Files = {}
    if random.random() < 0.2:
        other, run, lines = random.choice(good_runs())
        if other != id:
            files[f"runs/{other}/run.json"] = run
            files[f"runs/{other}/samples.jsonl"] = b"\n".join(lines) + b"\n"
    if random.random() < 0.1:
        text = random.choice([b"", b"{}", b"[]", hostile.data(random), b"{" * 3000])
        files["selftests/x.json"] = text
    if random.random() < 0.03:
        files |= _many(random)
    return files


def _many(random: Random) -> Files:
    """Enough runs for the index to be read, and an index that does not fit them."""
    _, run, _ = good_runs()[0]
    files = {f"runs/{number:04x}/run.json": run for number in range(FEW)}
    found = bytearray(_good_index(tuple(files)))
    for _ in range(random.choice([0, 1, 20])):
        found[random.randrange(len(found))] = random.randrange(256)
    content = random.choice(
        [bytes(found), bytes(found[: random.randrange(len(found))]), random.randbytes(500)]
    )
    return files | {index.INDEX_FILE: content}


@cache
def _good_index(names: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        store.chmod(0o700)
        index.save(
            store,
            [
                index.IndexedRun(
                    name.split("/")[1].encode(),
                    "1.1.1",
                    hostile.SCRIPT,
                    "2026",
                    "compare",
                    "complete",
                    False,
                    '["a"]',
                    '["\x1b[2J"]',
                    '["e"]',
                )
                for name in names
            ],
        )
        return (store / index.INDEX_FILE).read_bytes()


def _bytes_changed(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    length = random.choice([1, 1, 4, 100])
    kind = random.randrange(5)
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:place] + hostile.data(random) + data[place:]
    if kind == 2:
        return data[:place] + hostile.data(random) + data[place + length :]
    if kind == 3:
        return data[:place] + data[place + length :]
    return data[:place] + data[place : place + length] * random.choice([2, 50]) + data[place:]


Change = Callable[[Random, Any, list[bytes]], tuple[Any, list[bytes]]]


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container with a key in it."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in list(keys):
        found.append((value, key))
        _places(value[key], found)
    return found


def _bend(random: Random, document: Any) -> Any:
    """Changes one place of it."""
    places = _places(document, [])
    if not places:
        return hostile.value(random)
    holder, key = random.choice(places)
    kind = random.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[hostile.name(random)] = holder.pop(key)
    elif kind == 2 and isinstance(holder, list):
        holder.append(holder[key])
    elif kind == 3:
        holder[key] = _alike(random, holder[key])
    else:
        holder[key] = hostile.value(random)
    return document


def _alike(random: Random, value: Any) -> Any:
    """A value of the same type, which the reader of the file lets pass."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return hostile.number(random)
    if isinstance(value, str):
        return hostile.name(random)
    if isinstance(value, list):
        return random.choice([[], value * 2, value[::-1], value[:1] * 40])
    if isinstance(value, dict):
        return random.choice([{}, dict(list(value.items())[:1]), {**value, "": 1}])
    return hostile.value(random)


def change_run(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    return _bend(random, document), lines


def change_a_line(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    if not lines:
        return document, lines
    for _ in range(random.choice([1, 5])):
        place = random.randrange(len(lines))
        lines[place] = _line(_bend(random, _decoded(lines[place])))
    return document, lines


def change_every_line(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    """The same change in each line that can take it, or in a part of the lines."""
    if not lines:
        return document, lines
    seed, share = random.randrange(2**32), random.choice([1.0, 0.5])
    kind = _decoded(random.choice(lines))
    kind = kind.get("kind") if isinstance(kind, dict) else None
    for place, line in enumerate(lines):
        record = _decoded(line)
        if isinstance(record, dict) and record.get("kind") == kind and random.random() < share:
            lines[place] = _line(_bend(Random(seed), record))
    return document, lines


def change_a_field(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    """One field of the lines gets values of its own type."""
    records = [_decoded(line) for line in lines]
    sample = random.choice(records) if records else None
    paths = _paths(sample, ())
    if not paths:
        return document, lines
    path, share = random.choice(paths), random.choice([0.1, 0.5, 1.0])
    constant = random.random() < 0.5
    fixed = None
    for place, record in enumerate(records):
        holder = record
        for key in path[:-1]:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and path[-1] in holder and random.random() < share:
            fixed = _alike(random, holder[path[-1]]) if fixed is None or not constant else fixed
            holder[path[-1]] = fixed
            lines[place] = _line(record)
    return document, lines


def _paths(value: Any, before: tuple[str, ...]) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return []
    found = [(*before, key) for key in value]
    for key, inner in value.items():
        found += _paths(inner, (*before, key))
    return found


def rename(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    """One word is another one wherever it stands, so that the files still fit each other."""
    words = [key for holder, key in _places(document, []) if isinstance(key, str)]
    words += [
        holder[key]
        for holder, key in _places(document, [])
        if isinstance(holder[key], str) and holder[key]
    ]
    if not words:
        return document, lines
    old, new = json.dumps(random.choice(words)), json.dumps(hostile.name(random))
    document = json.loads(json.dumps(document).replace(old, new))
    spoken = [
        old.encode(),
        json.dumps(json.loads(old), ensure_ascii=False).encode(errors="replace"),
    ]
    for word in dict.fromkeys(spoken):
        lines = [line.replace(word, new.encode()) for line in lines]
    return document, lines


def scale(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    """The values of one subject or of all are multiplied, or all the same."""
    factor = random.choice([0, -1, 1e-300, 1e90, 1e-9, 1e9, 1.0])
    constant, share = random.random() < 0.4, random.choice([0.3, 1.0])
    for place, line in enumerate(lines):
        record = _decoded(line)
        values = record.get("values") if isinstance(record, dict) else None
        if isinstance(values, dict) and random.random() < share:
            for name, value in values.items():
                if isinstance(value, int | float):
                    values[name] = factor if constant else _times(value, factor)
            lines[place] = _line(record)
    return document, lines


def shuffle(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    kind = random.randrange(5)
    if kind == 0:
        random.shuffle(lines)
    elif kind == 1:
        lines = lines + lines
    elif kind == 2:
        lines = lines[: random.randrange(len(lines) + 1)]
    elif kind == 3:
        lines = [line for line in lines if random.random() < 0.5]
    else:
        lines = lines[::-1]
    return document, lines


def of_another(random: Random, document: Any, lines: list[bytes]) -> tuple[Any, list[bytes]]:
    """The samples of one run beside the plan of another."""
    return document, list(random.choice(good_runs())[2])


def _times(value: float, factor: float) -> float:
    try:
        return value * factor
    except OverflowError:  # an integer that is beyond the range of a float
        return factor


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _line(record: Any) -> bytes:
    return json.dumps(record).encode()


CHANGES: list[Change] = [
    change_run,
    change_run,
    change_a_line,
    change_every_line,
    change_a_field,
    change_a_field,
    rename,
    rename,
    scale,
    shuffle,
    of_another,
]
