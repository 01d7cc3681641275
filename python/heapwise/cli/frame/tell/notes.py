"""What a user should know of the programs of a comparison before they are measured."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from heapwise.model import Build
from heapwise.runner import Examined, Prepared, unknown_placeholders
from heapwise.wording.suggest import did_you_mean

PYTHON = re.compile(r"python\d*(\.\d+)?t?")
BY_MALLOC = "PYTHONMALLOC"

OBJECTS = {
    "java": "the Java virtual machine",
    "node": "V8",
    "nodejs": "V8",
    "deno": "V8",
    "dotnet": ".NET",
    "sbcl": "SBCL",
}
"""Programs whose objects are in a heap that takes its memory from the kernel, and whose it is."""


def notes(prepared: Prepared) -> Iterator[str]:
    """Each a sentence or two."""
    yield from prepared.notes
    for one in prepared.examined:
        is_compared = prepared.plan.traits.whole_programs  # a server's {port} is another thing
        for placeholder in (
            unknown_placeholders(one.build, prepared.plan.parameters) if is_compared else ()
        ):
            hint = did_you_mean(placeholder, prepared.plan.parameters)
            yield f"{{{placeholder}}} stays as it is: there is no parameter of this name{hint}"
        if (heap := OBJECTS.get(Path(one.found.image).name)) and _compares_allocators(prepared):
            yield (
                f"The objects of {one.build.program_typed} are in the heap of {heap}, which takes "
                "its memory from the kernel. Only what native code requests reaches the allocators."
            )
        if _is_python(one) and _uses_own_heap(prepared, one.build):
            words = shlex.join([f"{BY_MALLOC}=malloc", *one.build.as_typed])
            yield (
                "Python serves blocks of up to 512 bytes from a heap of its own (pymalloc), so "
                "only larger ones reach the allocators. To measure all blocks: heapwise "
                f"compare -- {words}   or, beside pymalloc: {_row_by_malloc(prepared)}"
            )
    if twins := _same_builds([one.build for one in prepared.examined]):
        yield (
            f"{' and '.join(twins)} are files with the same contents, and their commands are "
            "equal. Did the build change anything?"
        )


def _is_python(one: Examined) -> bool:
    """By the name of the file that the kernel runs, or of a script that starts it."""
    return any(PYTHON.fullmatch(Path(name).name) for name in (one.found.image, one.build.program))


def _row_by_malloc(prepared: Prepared) -> str:
    """The option that adds a row in which an allocator serves all blocks of Python: not the
    baseline if there is another one."""
    peers = {s.peer.name: s.peer for s in prepared.plan.subjects if s.peer}
    name = [*peers][min(1, len(peers) - 1)]
    library = peers[name].path if peers[name].is_given_by_path else name
    return "--allocator " + shlex.quote(f"{name} alone:{BY_MALLOC}=malloc={library}")


def _compares_allocators(prepared: Prepared) -> bool:
    return any(subject.peer for subject in prepared.plan.subjects)


def _uses_own_heap(prepared: Prepared, build: Build) -> bool:
    """Whether allocators are compared, and in no row Python gets all of its blocks from one."""
    own = {**prepared.environment, **build.environment}
    peers = [subject.peer for subject in prepared.plan.subjects if subject.peer]
    return bool(peers) and not any(
        {**peer.environment, **own}.get(BY_MALLOC, "").startswith("malloc") for peer in peers
    )


def _same_builds(builds: list[Build]) -> list[str]:
    """Names of builds that are other files with the contents and the words of an earlier one. One
    file that is named twice is a comparison with itself, which its user sees."""
    for at, first in enumerate(builds):
        twins = [
            other
            for other in builds[at + 1 :]
            if first.sha256
            and other.sha256 == first.sha256
            and other.program != first.program
            and other.command[1:] == first.command[1:]
            and other.environment == first.environment
        ]
        if twins:
            return [first.name, *(other.name for other in twins)]
    return []
