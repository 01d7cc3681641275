"""A run that is given away shows only those words of its user that an allow-list names."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from every_kind import EVERY_KIND
from synthetic import compare_run, pool_run

from heapwise.evidence import Evidence
from heapwise.model import (
    Build,
    FleetOrigin,
    Parameter,
    Plan,
    Replay,
    ServerOptions,
)
from heapwise.report import View, build_page, redact
from heapwise.report.formats import find_formats
from heapwise.store import StoredRun

SECRET = "hunter2"

SHOWN = re.compile(
    r"/plan/(kind|seed|experiments|parameters|subjects)\b"
    r"|/plan/options/(removed_environment|environment_changed)"
    r"|/plan/options/server/recipe"
    r"|/plan/options/reproduction/(report|cells|changes|output|author_outputs)"
    r"|/plan/options/replay/(trace|script|quantity|without_pool|candidates)"
    r"|/plan/options/gate/(uncountable|uneven)"
    r"|/plan/options/fleet/(fleet|machine)"
    r"|/plan/options/output_files"
    r"|/plan/input_path"
    r"|/plan/builds\[\]/(build_id|sha256|name)"
    r"|/plan/(command|builds\[\]/command|options/as_typed|builds\[\]/as_typed"
    r"|options/replay/command|options/server/load)\[0\]"
)
"""What may be shown: our own words, names of files, and the program. Whatever a plan has beside
them is hidden, so that a new field has to be looked at."""


def everything_shown(stored: StoredRun) -> str:
    """In each form in which a run is given away."""
    view = View(Evidence(stored))
    texts = [write.write(view) for write in find_formats().values()]
    whole = msgspec.json.encode([stored.run, stored.processes, stored.samples]).decode()
    return "\n".join([*texts, build_page([view]), whole])


def planted(value: Any, place: str) -> Any:
    """The secret is added to each text of a plan that is not shown."""
    if SHOWN.match(place):
        return value
    if isinstance(value, dict):
        return {key: planted(inner, f"{place}/{key}") for key, inner in value.items()}
    if isinstance(value, list):
        program = place.rpartition("/")[2] in ("command", "as_typed", "load")
        return [
            planted(inner, f"{place}[{at if program else ''}]") for at, inner in enumerate(value)
        ]
    return f"{value} {SECRET}".strip() if isinstance(value, str) else value


def full_plan(plan: Plan) -> Plan:
    """With something in each field that a user can fill."""
    words = ["./old", "--password", "x"]
    options = replace(
        plan.options,
        as_typed=words,
        check="x",
        replay=Replay("/t.hwt", "/t.script", words),
        fleet=FleetOrigin("f", "m", {"TOKEN": "x"}),
    )
    return replace(
        plan,
        command=words,
        environment={"TOKEN": "x"},
        working_directory="x",
        options=options,
        builds=[Build("", words, words, environment={"TOKEN": "x"})],
    )


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_no_text_of_a_plan_is_shown_but_those_that_a_list_names(kind: str) -> None:
    stored = EVERY_KIND[kind]()
    plan = stored.run.plan if kind in ("server", "gate") else full_plan(stored.run.plan)
    if plan.options.server:
        server = ServerOptions("tcp:1", ["wrk", "-H", "x"], ["x"], rates=[0.5])
        plan = replace(plan, options=replace(plan.options, server=server))
    document = planted(msgspec.to_builtins(plan), "/plan")
    run = replace(
        stored.run,
        plan=msgspec.convert(document, Plan),
        command_line=["heapwise", "compare" if plan.traits.whole_programs else "run", SECRET],
    )
    assert SECRET in everything_shown(replace(stored, run=run))
    assert SECRET not in everything_shown(redact(replace(stored, run=run)))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("compare|-r|5|./old --password hunter2", "compare|-r|5|(redacted)"),
        ("compare|--prepare|PW=hunter2 true|--time|9m|./a", "compare|--prepare|(redacted)"
         "|--time|9m|(redacted)"),
        ("compare|--prepare=PW=hunter2|-w|2", "compare|--prepare=(redacted)|-w|2"),
        ("compare|--prepare|--time|hunter2", "compare|--prepare|(redacted)|(redacted)"),
        ("compare|-L|mode|hunter2,b|./a {mode}", "compare|-L|(redacted)|(redacted)|(redacted)"),
        ("compare|--allocators|jemalloc,scudo|--", "compare|--allocators|jemalloc,scudo|--"),
        ("compare|--allocators|hunter2|--baseline|hunter2", "compare|--allocators|(redacted)"
         "|--baseline|(redacted)"),
        ("compare|--time|hunter2|--strict|--cpus|0-3,6", "compare|--time|(redacted)|--strict"
         "|--cpus|0-3,6"),
        ("compare|--machine|hunter2|--store|hunter2|--export|hunter2.json", "compare|--machine"
         "|(redacted)|--store|(redacted)|--export|(redacted)"),
        ("serve|--load|wrk -H hunter2|--window|10s|hunter2|--time|9m", "serve|--load|(redacted)"
         "|--window|10s|(redacted)|(redacted)|(redacted)"),
        ("compare|--|hunter2|x", "compare|--|(redacted)|(redacted)"),
        ("hunter2|--time|9m", "(redacted)|(redacted)|(redacted)"),
    ],
)  # fmt: skip
def test_words_of_the_command_line_that_are_shown(typed: str, shown: str) -> None:
    stored = compare_run()
    run = replace(stored.run, command_line=["/opt/hunter2/bin/heapwise", *typed.split("|")])
    clean = redact(replace(stored, run=run)).run.command_line
    assert clean == ["heapwise", *shown.split("|")]


def test_words_of_our_experiments_are_shown() -> None:
    stored = pool_run(6, threads=[1, 4])
    line = ["heapwise", "run", stored.run.plan.experiments[0], "--set", "threads=1,4", "--smoke"]
    hidden = ["--set", "threads=hunter2", "--set", "other=1", f"/home/{SECRET}/x", "hunter2"]
    run = replace(stored.run, command_line=[*line, *hidden])
    assert redact(replace(stored, run=run)).run.command_line == [
        *line,
        "--set",
        "(redacted)",
        "--set",
        "(redacted)",
        "(redacted)",
        "(redacted)",
    ]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["TOKEN=hunter2", "./old", "x"], ["(redacted)", "./old", "(redacted)"]),
        (["./old", "A=hunter2", "./old"], ["./old", "(redacted)", "(redacted)"]),
        (["cat hunter2|sort", "x"], ["(redacted)", "(redacted)"]),
    ],
)
def test_of_one_program_only_its_name_is_shown(words: list[str], shown: list[str]) -> None:
    stored = compare_run()
    plan = replace(stored.run.plan, options=replace(stored.run.plan.options, as_typed=words))
    run = replace(stored.run, plan=plan, command_line=["heapwise", "compare", "--", *words])
    clean = redact(replace(stored, run=run)).run
    assert clean.command_line == ["heapwise", "compare", "--", *shown]
    assert clean.plan.options.as_typed == shown


def test_texts_of_a_parameter_are_numbered_and_its_numbers_stay() -> None:
    stored = compare_run()
    values = ["hunter2", "4k", 8]
    experiment = stored.run.experiments[0]
    own = replace(experiment, parameters=[Parameter("mode", "", list(values), list(values))])
    run = replace(
        stored.run,
        plan=replace(stored.run.plan, parameters={"mode": list(values)}),
        experiments=[own],
    )

    def at(record: Any) -> Any:
        return replace(record, parameters={"mode": values[record.round % 3]})

    measured = replace(
        stored,
        run=run,
        processes=[at(each) for each in stored.processes],
        samples=[at(each) for each in stored.samples],
    )
    clean = redact(measured)
    assert clean.run.plan.parameters == {"mode": ["value 1", "4k", 8]}
    assert {each.parameters["mode"] for each in clean.samples} == {"value 1", "4k", 8}
    assert "mode=value 1" in everything_shown(clean)
    assert SECRET not in everything_shown(clean)


@pytest.mark.parametrize(
    "reason",
    [
        "--check grep hunter2 out ended with 1: no hunter2\nin out",
        "cannot be started: ./old --password=hunter2",
    ],
)
def test_a_reason_does_not_repeat_what_was_typed(reason: str) -> None:
    stored = compare_run()
    first = replace(stored.processes[0], status="failed", reason=reason)
    plan = replace(stored.run.plan, command=["./old", "--password=hunter2"])
    run = replace(stored.run, plan=plan)
    clean = redact(replace(stored, run=run, processes=[first, *stored.processes[1:]]))
    assert "(redacted)" in clean.processes[0].reason
    assert SECRET not in clean.processes[0].reason


def test_a_name_that_was_made_of_a_command_is_not_shown() -> None:
    stored = compare_run()
    builds = [Build("TOKEN=hunter2;old", ["/bin/sh", "-c", "x"]), Build("new", ["./new"])]
    run = replace(stored.run, plan=replace(stored.run.plan, builds=builds))
    names = [build.name for build in redact(replace(stored, run=run)).run.plan.builds]
    assert names == ["sh 1", "new"]
