"""Names come only from the files that were recorded, not from what is at their paths later."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.trace import Modules, Trace, open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.names.call_stacks import call_stacks
from heapwise.trace.names.symbols import Symbols, module_notes, read_mappings

Record = Callable[..., Path]

SOURCE = """
#include <stdlib.h>
%s
__attribute__((noinline)) void *read_config(void) { return malloc(4321); }
int main(void) { for (int i = 0; i < 100; ++i) free(read_config()); return 0; }
"""


def build(folder: Path, before: str, *options: str) -> Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(SOURCE % before)
    subprocess.run(["cc", "-O1", "-g", *options, str(source), "-o", str(program)], check=True)
    return program


def names(trace: Path) -> set[str]:
    """Of the callers in the program."""
    with open_trace(trace) as opened:
        stacks = call_stacks(opened, read_contents(opened), Symbols(opened.modules))
    return {
        place.name
        for stack in stacks
        for place in stack.places[-1:]
        if Path(place.module).name == "program"
    }


def notes(trace: Path) -> str:
    with open_trace(trace) as opened:
        return " ".join(module_notes(opened))


@pytest.mark.parametrize("identity", ["-Wl,--build-id", "-Wl,--build-id=none"])
def test_a_program_that_was_built_again_has_no_names(
    identity: str, tmp_path: Path, record: Record
) -> None:
    program = build(tmp_path, "", identity)
    trace = record(program)
    assert names(trace) == {"read_config"}
    assert notes(trace) == ""
    kept = tmp_path / "kept"
    shutil.copy(program, kept)
    build(tmp_path, "void *open_socket(void) { return malloc(1); }\nint more[1000];", identity)
    [name] = names(trace)
    assert name.startswith("program+0x")
    assert "program is another build than the recorded one" in notes(trace)
    shutil.copy(kept, program)  # the time of the file is another one, the content is the same
    assert names(trace) == {"read_config"}
    assert notes(trace) == ""
    program.unlink()
    [name] = names(trace)
    assert name.startswith("program+0x")
    assert "program is not there any more" in notes(trace)


def test_a_trace_from_before_there_were_build_ids_has_names_and_says_so(
    tmp_path: Path, record: Record
) -> None:
    with open_trace(record(build(tmp_path, ""))) as opened:
        modules = opened.modules
        old = Modules(
            "\n".join(
                line for line in modules.maps.splitlines() if not line.startswith("build-id")
            ),
            modules.sites,
        )
        stacks = call_stacks(opened, read_contents(opened), Symbols(old))
    assert any(place.name == "read_config" for stack in stacks for place in stack.places)
    assert "may be another build" in " ".join(Symbols(old).notes(old.sites))


def test_each_mapping_has_the_build_id_of_its_own_look() -> None:
    """A library is unloaded, and another build of it is loaded at the same place."""
    line = "7f0000001000-7f0000002000 r-xp 00001000 00:00 1 /lib/some.so"
    other = "7f0000005000-7f0000006000 r-xp 00001000 00:00 1 /lib/other.so"
    maps = "\n".join(
        [
            "build-id 00007f0000001000 aa",
            "build-id 00007f0000005000 cc",
            line,
            other,
            "build-id 00007f0000001000 bb",
            "build-id 00007f0000005000 cc",
            line,
            other,
        ]
    )
    assert [each.build_id for each in read_mappings(maps)] == ["aa", "cc", "bb", "cc"]


def test_all_that_is_mapped_has_an_identity(record: Record, known: Path) -> None:
    def identified(opened: Trace) -> bool:
        files = {each.path for each in opened.modules.files or ()}
        return all(
            each.build_id or each.path in files for each in read_mappings(opened.modules.maps)
        )

    for command in ([known, "calls"], ["/usr/bin/python3", "-S", "-c", "import math"]):
        with open_trace(record(*command)) as opened:
            assert opened.modules.files is not None
            assert identified(opened)
