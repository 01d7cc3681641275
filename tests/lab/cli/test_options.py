"""An option that several verbs have is one option: its names, its help and its default are one."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from heapwise.cli.frame.app import build_app

VERBS = typer.main.get_command(build_app()).commands  # type: ignore[attr-defined]

OF_THE_VERB = {"strict", "export", "rounds"}
"""What is not trustworthy, what can be written and what rounds are differs from verb to verb."""


def options(verb: str) -> dict[str, Any]:
    return {p.name: p for p in VERBS[verb].params if p.param_type_name == "option"}


@pytest.mark.parametrize("verb", ["gate", "bisect", "run", "resume"])
def test_an_option_is_the_one_that_compare_has(verb: str) -> None:
    of_compare = options("compare")
    shared = {"--time"} if verb == "resume" else set()
    for name, option in options(verb).items():
        other = of_compare.get(name)
        if other is None or name in OF_THE_VERB or shared & set(option.opts):
            continue
        assert (option.opts, option.secondary_opts, option.help, option.metavar) == (
            other.opts,
            other.secondary_opts,
            other.help,
            other.metavar,
        )
        assert option.default == other.default or name == "time"


def test_a_gate_takes_what_a_comparison_takes_of_its_programs() -> None:
    assert {
        "warmup",
        "prepare",
        "setup",
        "cleanup",
        "ignore_failure",
        "ignore_exit",
        "fresh_dir",
        "show_output",
        "input",
        "output_file",
        "check",
        "ignore_output",
        "allow_background",
        "timeout",
        "seed",
        "cpus",
        "keep_env",
    } <= options("gate").keys()


def test_the_build_command_is_one() -> None:
    gate, bisect = options("gate")["build_command"], options("bisect")["build_command"]
    assert (gate.help, gate.metavar) == (bisect.help, bisect.metavar)
