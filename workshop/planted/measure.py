"""Plants effects in one program after another, and compares each with itself."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec

from heapwise.catalog import native_folder
from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.store import read_run
from heapwise.wording.durations import parse_duration
from workshop.planted.judged import PLAIN, Looked, effects_of
from workshop.planted.load import load
from workshop.planted.ready import CannotPlant, Ready, made_ready, shortened
from workshop.planted.steps import Steps
from workshop.planted.whole_runs import WholeRuns
from world.program import Program, all_programs
from world.run import execute
from world.way import Start

ORDER = Path(__file__).with_name("programs.txt")
"""Names of programs of ``tests/world``, in the order in which they are looked at. The last ones are
for machines that lack others. Not here: programs that draw keys at random, which have other work in
each run (openssl, gpg), and what a server does that outlives the command (redis)."""

PATIENCE_S = 180.0
"""A comparison may take this much longer than its time: for its start, and the last process."""


@dataclass(frozen=True)
class Settings:
    """percents: the effects. time: of each comparison, as ``--time`` has it. busy: how many
    processes compute beside it, but not beside the runs that say what is true. options: more words
    for ``compare``. whole_runs: further runs of the program are planted, not steps."""

    percents: Sequence[float]
    time: str
    busy: int
    options: Sequence[str] = ()
    whole_runs: bool = False


def chosen(count: int, names: Sequence[str] = ()) -> tuple[list[Program], list[str]]:
    """Programs to look at, and the names of those before the last one that are not installed."""
    known = {program.name: program for program in all_programs()}
    found: list[Program] = []
    missing: list[str] = []
    for name in names or ORDER.read_text().split():
        if len(found) == count and not names:
            break
        if known[name].lacking():
            missing.append(name)
        else:
            found.append(known[name])
    return found, missing


def kept(folder: Path, name: str) -> Looked | None:
    """What this folder has of an earlier look, which may have failed."""
    file = _file(folder, name)
    return msgspec.json.decode(file.read_bytes(), type=Looked) if file.exists() else None


def look_at(program: Program, settings: Settings, folder: Path) -> Looked:
    """Effects: compares the program, and writes the answer into the folder."""
    began_s = time.monotonic()
    found = _looked(program, settings, folder.absolute())
    found = msgspec.structs.replace(found, minutes=round((time.monotonic() - began_s) / 60, 2))
    file = _file(folder, program.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    return found


def _file(folder: Path, name: str) -> Path:
    return folder / "looked" / f"{name}.json"


def _looked(program: Program, settings: Settings, folder: Path) -> Looked:
    try:
        return _compared(made_ready(program, folder / program.name), settings)
    except CannotPlant as error:
        return Looked(program.name, program.title, said=str(error))


def _compared(ready: Ready, settings: Settings) -> Looked:
    program, store = ready.program, ready.folder / "store"
    time_s = parse_duration(settings.time, "--time")
    planted = (
        WholeRuns(ready, settings.percents, time_s)
        if settings.whole_runs
        else Steps(ready, settings.percents)
    )
    words = [
        *(sys.executable, "-m", "heapwise", "compare", "--quiet"),
        *_subjects(planted.library, planted.subjects),
        *("--allocators", ",".join(planted.subjects)),
        *("--baseline", PLAIN, "--time", settings.time, "--store", str(store)),
        *(["--fresh-dir"] if ready.leaves_files else []),
        *(["--ignore-output"] if program.varies else []),
        *settings.options,
        *("--", *planted.command),
    ]
    variables = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    start = Start(words, variables | {"HEAPWISE_NATIVE": str(native_folder())})
    with load(settings.busy):
        done = execute(start, program, ready.empty_folder(), time_s + PATIENCE_S)
    true = planted.truths()
    runs = sorted((store / "runs").glob("*"))
    if not runs:
        raise CannotPlant(shortened(f"heapwise ended with {done.status}: {done.err}"))
    evidence = Evidence(read_run(store, runs[-1].name))
    found = effects_of(evidence, true, planted.records())
    times = [process.facts.cpu_s or 0.0 for process in measured(evidence.stored)]
    return Looked(
        program.name,
        program.title,
        runs[-1].name,
        "" if found else shortened(f"nothing was measured: {done.err}"),
        found,
        round(median(times), 4) if times else 0.0,
    )


def _subjects(library: Path, subjects: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        word
        for name, variables in subjects.items()
        for word in ("--allocator", f"{name}:{_joined(variables)}={library}")
    ]


def _joined(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items())
