"""A run without what tells whose machine it was: host, user, paths, the environment's values, and
the arguments of the measured program with what it printed, which may hold anything."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from heapwise.model import Build, Peer, Process, Revision, Run, Sample
from heapwise.report.redacted_words import (
    HIDDEN,
    NUMBERS,
    program_alone,
    redacted_command_line,
)
from heapwise.store import StoredRun

NAME = r"[^\s/:\"'=,;]+"

PATH = re.compile(rf"(?<![\w./…])(?:/{NAME}(?: +{NAME})*(?=/))*/{NAME}/?")
"""An absolute path: after a colon too, but not within an address of the web. Names of folders may
have spaces, so words between two slashes count as such a name."""

PLAIN_NAME = re.compile(r"[\w.+-]+")
"""A name of a build that is not made of several words of a command."""

OPTION_REASON = re.compile(r"(--[\w-]+) .*", re.DOTALL)
"""Why a process failed, if a command of the user did: the option, the command and its words."""

RecordT = TypeVar("RecordT", Run, Process, Sample)
MeasuredT = TypeVar("MeasuredT", Process, Sample)


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
    phrases, names, texts = _phrases(stored.run), _names(stored.run), _texts(stored.run)

    def shown(record: MeasuredT, kind: type[MeasuredT]) -> MeasuredT:
        return _renamed(_clean(_at(record, texts), kind, secret), kind, names)

    hidden = _without_texts(_without_arguments(stored.run), texts)
    run = _renamed(_clean(hidden, Run, secret), Run, names)
    options = replace(run.plan.options, environment_marks=None, files=None)
    plan = replace(
        run.plan,
        environment=_hidden_values(run.plan.environment),
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
        processes=[shown(_without_output(each, phrases), Process) for each in stored.processes],
        samples=[shown(each, Sample) for each in stored.samples],
    )


def _without_place(revision: Revision | None) -> Revision | None:
    return revision and structs.replace(revision, repository="", top="")


def _without_arguments(run: Run) -> Run:
    """The command's first word stays, and each word after it becomes the same mark."""
    plan = run.plan
    options = replace(
        plan.options.without_words(program_alone, HIDDEN),
        as_typed=program_alone(plan.options.as_typed),
        check=plan.options.check and HIDDEN,
        fleet=plan.options.fleet
        and structs.replace(
            plan.options.fleet, environment=_hidden_values(plan.options.fleet.environment)
        ),
    )
    plan = replace(
        plan,
        command=program_alone(plan.command),
        options=options,
        builds=[_without_words(build) for build in plan.builds],
        subjects=[replace(each, peer=_without_values(each.peer)) for each in plan.subjects],
    )
    return replace(run, plan=plan, command_line=redacted_command_line(run))


def _hidden_values(variables: dict[str, str]) -> dict[str, str]:
    return dict.fromkeys(variables, HIDDEN)


def _without_values(peer: Peer | None) -> Peer | None:
    """Everybody may read the variables of an allocator of the catalogue."""
    if peer is None or not peer.is_given_by_path:
        return peer
    return replace(peer, environment=_hidden_values(peer.environment))


def _without_words(build: Build) -> Build:
    """Its program stays; so does the fact that it has commands of its own."""
    return replace(
        build,
        command=program_alone(build.command),
        as_typed=program_alone(build.as_typed),
        environment=_hidden_values(build.environment),
        prepare=build.prepare and HIDDEN,
        conclude=build.conclude and HIDDEN,
        setup=build.setup and HIDDEN,
        cleanup=build.cleanup and HIDDEN,
    )


def _names(run: Run) -> dict[str, str]:
    """Names and values that hold words of a command -> what is shown instead: the program with a
    number, the parameter with a number."""
    names = {
        build.name: f"{Path(build.program).name} {number}"
        for number, build in enumerate(run.plan.builds, 1)
        if build.name and not PLAIN_NAME.fullmatch(build.name)
    }
    for parameter, values in _texts(run).items():
        names |= {f"{parameter}={value}": f"{parameter}={shown}" for value, shown in values.items()}
    return names


def _texts(run: Run) -> dict[str, dict[str, str]]:
    """Parameter of a command -> its values that are not numbers -> what is shown instead. The
    values of an experiment's parameters are ours."""
    if not run.plan.takes_values_of_user:
        return {}
    return {
        name: {
            value: f"value {number}"
            for number, value in enumerate(values, 1)
            if isinstance(value, str) and not NUMBERS.fullmatch(value)
        }
        for name, values in run.plan.parameters.items()
    }


def _without_texts(run: Run, texts: dict[str, dict[str, str]]) -> Run:
    def shown(name: str, values: list[Any]) -> list[Any]:
        return [texts.get(name, {}).get(value, value) for value in values]

    experiments = [
        replace(
            experiment,
            parameters=[
                replace(
                    each, default=shown(each.name, each.default), smoke=shown(each.name, each.smoke)
                )
                for each in experiment.parameters
            ],
        )
        for experiment in run.experiments
    ]
    parameters = {name: shown(name, values) for name, values in run.plan.parameters.items()}
    return replace(run, experiments=experiments, plan=replace(run.plan, parameters=parameters))


def _at(record: MeasuredT, texts: dict[str, dict[str, str]]) -> MeasuredT:
    """With its settings as ``_without_texts`` names them."""
    parameters = {
        name: texts.get(name, {}).get(str(value), value)
        for name, value in record.parameters.items()
    }
    return replace(record, parameters=parameters)


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


def _phrases(run: Run) -> re.Pattern[str] | None:
    """What the user typed that the reason of a failure may repeat."""
    plan = run.plan
    commands = [plan.command, *(build.command for build in plan.builds)]
    found = [word for command in commands for word in command[1:]]
    found += [value for build in plan.builds for value in build.environment.values()]
    found += plan.options.words_of_load
    words = sorted({word for word in found if len(word) > 3}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words))) if words else None


def _without_output(process: Process, phrases: re.Pattern[str] | None) -> Process:
    facts, reason = process.facts, OPTION_REASON.sub(rf"\1 {HIDDEN}", process.reason)
    if phrases:
        reason = phrases.sub(HIDDEN, reason)
        if facts.start_error:
            facts = structs.replace(facts, start_error=phrases.sub(HIDDEN, facts.start_error))
    if facts.stderr_tail is not None:
        facts = structs.replace(facts, stderr_tail=HIDDEN)
    return replace(process, reason=reason, facts=facts)


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
