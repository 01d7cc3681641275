"""Plants effects in one program after another, and compares each with itself."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec

from heapwise.catalog import native_folder
from heapwise.evidence import Evidence
from heapwise.evidence.kept import measured
from heapwise.model import SIDE_BY_SIDE
from heapwise.store import read_run
from heapwise.wording.durations import parse_duration
from workshop.planted.judged import PLAIN, Looked, effects_of, name_of
from workshop.planted.load import load
from workshop.planted.plant import Dose, build_plant, read_record, record_in_memory
from workshop.planted.truth import (
    TRIAL,
    Alone,
    NoPlace,
    doses,
    joined,
    one_processor,
    run_alone,
    runs_alone,
    truths,
)
from world.program import Program, all_programs
from world.run import Place, execute, filled, prepare
from world.way import Start

ORDER = Path(__file__).with_name("programs.txt")
"""Names of programs of ``tests/world``, in the order in which they are looked at. The last ones are
for machines that lack others. Not here: programs that draw keys at random, which have other work in
each run (openssl, gpg), and what a server does that outlives the command (redis)."""

MOST_SAID = 600
"""Characters of the reason why a program cannot be measured."""

PATIENCE_S = 180.0
"""A comparison may take this much longer than its time: for its start, and the last process."""


@dataclass(frozen=True)
class Settings:
    """percents: the effects. time: of each comparison, as ``--time`` has it. busy: how many
    processes compute beside it, but not beside the runs that say what is true. options: more words
    for ``compare``."""

    percents: Sequence[float]
    time: str
    busy: int
    options: Sequence[str] = ()


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
    def refused(said: str) -> Looked:
        return Looked(program.name, program.title, said=shortened(said))

    own = folder / program.name
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    place = Place(own)
    prepared = prepare(program, place)
    if prepared.status != 0:
        return refused(prepared.err)
    command = [filled(program, place, word) for word in program.command]
    work = own / "work"
    work.mkdir()
    plain = execute(Start(command, {}), program, work, program.limit_s)
    if plain.status != program.exit:
        return refused(f"it ended with {plain.status} by itself: {plain.err}")
    leaves_files = any(work.iterdir())
    library = build_plant(own)

    def alone(variables: Mapping[str, str]) -> None:
        execute(Start(command, dict(variables)), program, _emptied(work), program.limit_s)

    noted = own / "record"
    try:
        planted = doses(run_alone(alone, library, TRIAL, noted), settings.percents)
    except NoPlace as error:
        return refused(str(error))
    before = _runs_by_quantity(lambda: runs_alone(alone, library, planted, noted))
    subjects = {PLAIN: Dose()} | {name_of(percent): dose for percent, dose in planted.items()}
    records = {name: record_in_memory(name) for name in subjects}
    words = [
        *(sys.executable, "-m", "heapwise", "compare", "--quiet"),
        *_subjects(library, subjects, records),
        *("--allocators", ",".join(subjects)),
        *("--baseline", PLAIN, "--time", settings.time, "--store", str(own / "store")),
        *(["--fresh-dir"] if leaves_files else []),
        *(["--ignore-output"] if program.varies else []),
        *settings.options,
        *("--", *command),
    ]
    variables = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    start = Start(words, variables | {"HEAPWISE_NATIVE": str(native_folder())})
    with load(settings.busy):
        limit_s = parse_duration(settings.time, "--time") + PATIENCE_S
        done = execute(start, program, _emptied(work), limit_s)
    after = _runs_by_quantity(lambda: runs_alone(alone, library, planted, noted))
    runs = sorted((own / "store" / "runs").glob("*"))
    if not runs:
        return refused(f"heapwise ended with {done.status}: {done.err}")
    (own / "alone.json").write_bytes(msgspec.json.format(msgspec.json.encode([before, after])))
    true = {quantity: truths(joined(before[quantity], after[quantity])) for quantity in before}
    evidence = Evidence(read_run(own / "store", runs[-1].name))
    found = effects_of(evidence, true, {name: read_record(file) for name, file in records.items()})
    times = [process.facts.cpu_s or 0.0 for process in measured(evidence.stored)]
    return Looked(
        program.name,
        program.title,
        runs[-1].name,
        "" if found else shortened(f"nothing was measured: {done.err}"),
        found,
        round(median(times), 4) if times else 0.0,
    )


def _runs_by_quantity(
    runs: Callable[[], dict[float, list[Alone]]],
) -> dict[str, dict[float, list[Alone]]]:
    """On all processors, and on one: a program with several threads does other work there, and to
    start a process costs other time."""
    found = {"cpu_time": runs()}
    with one_processor():
        found[SIDE_BY_SIDE] = runs()
    return found


def shortened(text: str) -> str:
    """In one line, its beginning and its end if it is long."""
    line = " ".join(text.split())
    if len(line) <= MOST_SAID:
        return line
    half = MOST_SAID // 2
    return f"{line[:half]} … {line[-half:]}"


def _subjects(library: Path, doses: Mapping[str, Dose], records: Mapping[str, Path]) -> list[str]:
    return [
        word
        for name, dose in doses.items()
        for word in ("--allocator", f"{name}:{_joined(dose.variables(records[name]))}={library}")
    ]


def _joined(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items())


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder)
    folder.mkdir()
    return folder
