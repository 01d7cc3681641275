"""An option that several verbs have is one option: its names, its help and its default are one."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from heapwise.cli.frame.app import build_app, run
from heapwise.cli.frame.ask.signature import read
from heapwise.errors import Problem
from heapwise.options import Form, Option, Options, declared

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


@pytest.mark.parametrize(
    ("typed", "new"),
    [
        ("--serve --ready tcp:80 -- ./a --serve", "heapwise serve --ready tcp:80 -- ./a --serve"),
        ("--recipe redis -r 3", "heapwise serve --recipe redis -r 3"),
        ("--attach 4711 --time 3s", "heapwise watch 4711 --time 3s"),
        ("--attach=4711", "heapwise watch 4711"),
    ],
)
def test_an_option_that_compare_had_for_servers_names_the_verb_that_has_it(
    typed: str, new: str
) -> None:
    with pytest.raises(Problem) as refused:
        VERBS["compare"].make_context("compare", typed.split())
    assert refused.value.do == new


def test_an_option_is_read_as_its_form_says() -> None:
    """A form without a reader would hand the text on, or None."""
    typed = {
        Form.DURATION: ("90s", 90.0),
        Form.PROCESSORS: ("0-2,5", [0, 1, 2, 5]),
        Form.EXITS: ("1,2", [1, 2]),
        Form.WORDS: ("a,b", ["a", "b"]),
        Form.PERCENT: (1.0, 0.01),
        Form.SHARES: ("50%", [0.5]),
        Form.WHOLE_SECONDS: ("10s", 10.0),
        Form.PLAIN: ("x", "x"),
    }
    for form in Form:
        text, value = typed[form]
        assert read(Option(("--name",), "", (), form=form), text) == value


def test_the_default_that_the_help_shows_is_that_of_the_field() -> None:
    for verb in ("compare", "serve", "run", "reproduce", "replay", "advise"):
        for name, option in declared(Options, verb).items():
            if option.typed is not None:
                assert read(option, option.typed) == getattr(Options(), name), name


def listed(text: str) -> list[str]:
    """The long names of the options that a help has, without that of the help."""
    rows = re.findall(r"^  (-.*)", text.partition("Options:")[2], flags=re.MULTILINE)
    return [re.findall(r"--[a-z-]+", row)[0] for row in rows][:-1]


SCREENS, LINES = 2, 24


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_verb_fits_two_screens(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([verb, "--help"]) == 0
    assert len(capsys.readouterr().out.splitlines()) <= SCREENS * LINES


def test_compare_has_at_most_forty_options_and_shows_the_first_ten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of_hyperfine = [o for o in declared(Options, "compare").values() if o.of_hyperfine]
    assert len(options("compare")) - len(of_hyperfine) <= 40
    assert len(of_hyperfine) <= 6
    assert run(["compare", "--help"]) == 0
    short = capsys.readouterr().out
    assert run(["compare", "--help-all"]) == 0
    full = capsys.readouterr().out
    declared_ones = [p.opts[0] for p in options("compare").values()]
    assert listed(short) == declared_ones[:10]
    assert listed(full) == declared_ones
    assert "--help-all" in short
    assert "--help-all" not in full


def test_debug_is_an_option_of_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--debug", "E003"]) == 0
    assert run(["explain", "E003", "--", "--debug"]) == 2
