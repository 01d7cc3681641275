"""A run without what tells whose machine it was: host, user, paths, the environment's values, and
the arguments of the measured program with what it printed, which may hold anything."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from heapwise.model import Build, Process, Revision, Run, Sample
from heapwise.store import StoredRun

NAME = r"[^\s/:\"'=,;]+"

PATH = re.compile(rf"(?<![\w./…])(?:/{NAME}(?: +{NAME})*(?=/))*/{NAME}/?")
"""An absolute path: after a colon too, but not within an address of the web. Names of folders may
have spaces, so words between two slashes count as such a name."""

HIDDEN = "(redacted)"

RecordT = TypeVar("RecordT", Run, Process, Sample)


def redact(stored: StoredRun) -> StoredRun:
    """Absolute paths keep their last part; names of variables and of the program stay."""
    machine = stored.run.machine
    words = {w for w in (machine.host, machine.user) if len(w) > 1}
    words |= {
        value
        for name, value in stored.run.plan.environment.items()
        if name in ("USER", "LOGNAME", "HOSTNAME") and len(value) > 1
    }
    secret = (
        re.compile("|".join(rf"(?<!\w){re.escape(w)}(?!\w)" for w in sorted(words)))
        if words
        else None
    )
    names = _build_names(stored.run)
    run = _renamed(_clean(_without_arguments(stored.run), Run, secret), Run, names)
    options = replace(run.plan.options, environment_marks=None, files=None)
    plan = replace(
        run.plan,
        environment=dict.fromkeys(run.plan.environment, HIDDEN),
        working_directory=HIDDEN if run.plan.working_directory else "",
        options=options,
    )
    named = HIDDEN if run.machine.name else ""
    run = replace(
        run,
        plan=plan,
        revision=_without_place(run.revision),
        machine=replace(run.machine, host=HIDDEN, user=HIDDEN, name=named),
    )
    if run.machine_after:
        run = replace(run, machine_after=replace(run.machine_after, host=HIDDEN, user=HIDDEN))
    return replace(
        stored,
        run=run,
        path=Path(stored.path.name),
        processes=[
            _renamed(_clean(_without_output(p), Process, secret), Process, names)
            for p in stored.processes
        ],
        samples=[_renamed(_clean(s, Sample, secret), Sample, names) for s in stored.samples],
    )


def _without_place(revision: Revision | None) -> Revision | None:
    return revision and structs.replace(revision, repository="", top="")


def _without_arguments(run: Run) -> Run:
    """The command's first word stays, and each word after it becomes the same mark."""
    arguments = set(run.plan.command[1:])
    typed = run.plan.options.as_typed or run.plan.command
    hidden = [HIDDEN] * (len(run.plan.command) - 1)
    before = len(run.command_line) - len(typed)
    if run.command_line[before:] == typed:
        line = [*run.command_line[:before], *typed[:1], *hidden]
    else:
        line = [HIDDEN if word in arguments else word for word in run.command_line]
    options = replace(run.plan.options, as_typed=[*typed[:1], *hidden] if typed else [])
    if options.check:
        line = [word.replace(options.check, HIDDEN) for word in line]
        options = replace(options, check=HIDDEN)
    if len(run.plan.builds) > 1:
        line = [*run.command_line[:2], HIDDEN]
    builds = [_without_words(build) for build in run.plan.builds]
    plan = replace(
        run.plan, command=[*run.plan.command[:1], *hidden], options=options, builds=builds
    )
    return replace(run, plan=plan, command_line=line)


def _without_words(build: Build) -> Build:
    """Its program stays; so does the fact that it has commands of its own."""

    def hidden(words: list[str]) -> list[str]:
        return [*words[:1], *[HIDDEN] * (len(words) - 1)]

    typed = hidden(build.as_typed) if not build.environment else [HIDDEN] * len(build.as_typed)
    return replace(
        build,
        command=hidden(build.command),
        as_typed=typed,
        environment=dict.fromkeys(build.environment, HIDDEN),
        prepare=build.prepare and HIDDEN,
        conclude=build.conclude and HIDDEN,
        setup=build.setup and HIDDEN,
        cleanup=build.cleanup and HIDDEN,
    )


def _build_names(run: Run) -> dict[str, str]:
    """Names that were made of arguments -> the program with a number."""
    return {
        build.name: f"{Path(build.program).name} {number}"
        for number, build in enumerate(run.plan.builds, 1)
        if " " in build.name
    }


def _renamed(record: RecordT, kind: type[RecordT], names: dict[str, str]) -> RecordT:
    if not names:
        return record
    words = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {walk(key): walk(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner) for inner in value]
        return (
            words.sub(lambda found: names[found.group()], value)
            if isinstance(value, str)
            else value
        )

    return msgspec.convert(walk(msgspec.to_builtins(record)), kind)


def _without_output(process: Process) -> Process:
    if process.facts.stderr_tail is None:
        return process
    return replace(process, facts=structs.replace(process.facts, stderr_tail=HIDDEN))


def _clean(record: RecordT, kind: type[RecordT], secret: re.Pattern[str] | None) -> RecordT:
    return msgspec.convert(_walk(msgspec.to_builtins(record), secret), kind)


def _walk(value: Any, secret: re.Pattern[str] | None) -> Any:
    if isinstance(value, dict):
        return {key: _walk(inner, secret) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walk(inner, secret) for inner in value]
    if isinstance(value, str):
        shorter = PATH.sub(lambda found: f"…/{found.group().rstrip('/').rpartition('/')[2]}", value)
        return secret.sub(HIDDEN, shorter) if secret else shorter
    return value
