"""One name of a type, one module; one name of a file, one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "python/heapwise"

ONE_THING = {"Row", "Cell", "Line", "Record", "Outcome", "Result"}
"""Row: a line of figures. Cell: a quantity of a setup. Line: a line of a printed table. Record:
facts of a line that a native program wrote. Outcome: how a process of a measurement ended. Result:
what is concluded from a run."""

ONE_NOUN = {
    "tell": "how the result of a study of each kind is told",
    "ask": "how a study of each kind is asked for",
    "run": "how the steps of a study are run, and the verb that runs experiments",
    "bencher": "Bencher's format: of runs, of a gate",
    "by_machine": "a figure on each machine of a fleet: computed, stored",
    "demand": "what a program asks of malloc: computed, shown",
    "difference": "two runs compared: computed, stored",
    "experiments": "all experiments: found, shown",
    "gate": "a gate: the type, judged, the verb, shown",
    "growth": "memory that grows: tested, in words",
    "history": "the history of a figure: computed, drawn, shown, the verb",
    "identity": "whose malloc a process used: arranged, asked",
    "latency": "latency: drawn, shown",
    "machine": "a machine: the type, its page",
    "markdown": "Markdown: the export, a document",
    "memory": "memory over time: drawn, shown",
    "options": "options: as typed, as stored",
    "order": "the order of a run: drawn, shown",
    "peers": "peers: found, the verb",
    "published": "published reports: the type, found, drawn, shown",
    "reproduced": "a report that was run again: as text, as a page",
    "self_test": "what a self-test found: the type, kept",
    "sizes": "sizes of requests: drawn, in words",
    "standing": "how our heap stands among its peers: computed, as text, shown",
    "trees": "the binary trees: built, shown",
    "windows": "windows of a server's load: cut, tested, in words",
}
"""File names of several packages that are one thing there, each package with its own part of it."""

ONE_NOUN_CPP = {
    "caller_rule": "the way from a frame to its caller: read from tables, kept by the recorder",
    "sampled_blocks": "the blocks that are sampled: the profiler's, the heap's",
    "environment": "the environment's variables: of a launched child, read as options",
    "copies": "copies of this process: made by the system, that mark for the collector",
    "exported": "what a library exports: the heap's, the collector's",
    "large_blocks": "blocks with pages of their own: the heap's, the collector's",
    "mutex": "a mutex: of pools, of the system",
    "options": "the options of each program and library",
    "space": "reserved addresses: the heap's, the collector's",
    "start": "the start: of the heap, of the collector",
    "statistics": "statistics that an allocator keeps: the hybrid's, the collector's",
    "thread_cache": "the cache of a thread: the hybrid's, the heap's",
}

TYPE_OF_HEADER = re.compile(
    r"^(?:class|struct|union|enum|enum class)(?: HEAPWISE_\w+| alignas\([^)]*\))* (\w+)(?: final)?"
    r"(?: :[^;{]*)? \{",
    re.MULTILINE,
)

STILL_TWICE_CPP = {
    "block_map": "which blocks are in use: of a pool, of a span",
    "options": "what a program or library was told: of an experiment, of the heap",
    "random_numbers": "a generator: of experiments, and one without a library for the profiler",
    "space": "reserved addresses: the heap's, the collector's",
    "sampled_blocks": "the blocks that are sampled: by the profiler, by the heap",
    "stack_trace": "return addresses: of a recorded call, of a fault",
    "tally": "counts: of calls, of a cache",
    "thread_cache": "the cache of a thread: the hybrid's, the heap's",
}
"""Types of headers that have the name of another in a different namespace."""


def test_no_type_has_the_name_of_one_in_another_module() -> None:
    assert {name for name, modules in _types().items() if len(modules) > 1} == set()


def test_the_words_of_the_glossary_are_types_of_one_module() -> None:
    types = _types()
    assert {name: len(types[name]) for name in ONE_THING} == dict.fromkeys(ONE_THING, 1)


def test_a_file_name_of_two_packages_is_one_noun() -> None:
    assert _repeated(PACKAGE.rglob("[!_]*.py")) == ONE_NOUN.keys()


def test_no_type_of_a_header_has_the_name_of_another() -> None:
    names = Counter(
        name
        for header in _headers()
        for name in TYPE_OF_HEADER.findall(header.read_text(encoding="utf-8"))
    )
    assert {name for name, times in names.items() if times > 1} == STILL_TWICE_CPP.keys()


def test_a_header_name_of_two_folders_is_one_noun() -> None:
    assert _repeated(_headers()) == ONE_NOUN_CPP.keys()


def _headers() -> list[Path]:
    return [
        header
        for folder in ("bench", "include", "src")
        for header in (ROOT / folder).rglob("*.hpp")
    ]


def _repeated(paths: Iterable[Path]) -> set[str]:
    return {name for name, times in Counter(path.stem for path in paths).items() if times > 1}


def _types() -> dict[str, list[Path]]:
    modules: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in _declared(ast.parse(path.read_text())):
            modules[name].append(path)
    return modules


def _declared(tree: ast.Module) -> Iterator[str]:
    """Classes, and other names of types: those that begin with a capital and are not constants."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name
