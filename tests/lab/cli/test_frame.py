"""The frame of the command line: speed, help, words, tables."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from planted import with_plan
from synthetic import compare_run

from heapwise.analysis import analyse
from heapwise.cli.frame import app
from heapwise.cli.frame.app import build_app, run, verbs_needed
from heapwise.cli.frame.ask import settings
from heapwise.cli.frame.ask.shell_words import pasted
from heapwise.cli.frame.tell import console, progress
from heapwise.cli.frame.tell.ending import rounds_words, saved_line
from heapwise.cli.frame.tell.progress import describe
from heapwise.document import folding
from heapwise.document.aligned import align
from heapwise.errors import CATALOGUE, Exit, Problem
from heapwise.evidence import Evidence
from heapwise.model import Experiment, Subject
from heapwise.runner import Progress, Step
from heapwise.wording.verbs import verb_names

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("numpy", "scipy", "rich", "jinja2", "msgspec", "elftools")


def commands(group: Any, before: str = "") -> list[tuple[str, Any]]:
    found = []
    for name, verb in group.commands.items():
        path = f"{before} {name}".strip()
        found += [(path, verb)] + (commands(verb, path) if hasattr(verb, "commands") else [])
    return found


DATA = Path(__file__).resolve().parents[2] / "data"
VERBS = commands(typer.main.get_command(build_app()))


@pytest.mark.parametrize("words", [["--help"], ["compare", "--help"], ["run", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom heapwise.cli.frame.app import run\n"
        f"code = run({words!r})\nheavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "print('HEAVY', code, heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY 0 []"


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["compare", "--", "run"], ["compare"]),
        (["fleet", "check"], ["fleet"]),
        (["compar"], []),
        (["--version"], []),
        (["--help"], []),
        ([], []),
    ],
)
def test_a_verb_is_loaded_alone(
    words: list[str], needed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert verbs_needed(words) == needed
    monkeypatch.setenv("_HEAPWISE_COMPLETE", "complete_bash")
    assert verbs_needed(words) == []
    monkeypatch.delenv("_HEAPWISE_COMPLETE")
    (tmp_path / settings.FILE_NAME).touch()
    assert verbs_needed(words) == []


def test_each_verb_has_the_name_of_its_file() -> None:
    alone = {
        verb: [*typer.main.get_command(build_app([verb])).commands]  # type: ignore[attr-defined]
        for verb in verb_names()
    }
    assert alone == {verb: [verb] for verb in verb_names()}
    assert len(alone) > 15


def test_listing_runs_imports_nothing_heavy() -> None:
    heavy = set(HEAVY) - {"msgspec"}  # which reads a run.json that is not in the index
    code = (
        f"import sys\nfrom heapwise.cli.frame.app import run\n"
        f"code = run(['report', '--list', '--store', {str(DATA)!r}])\n"
        f"print('HEAVY', code, {heavy!r} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY 0 set()"


@pytest.mark.parametrize(("path", "verb"), VERBS, ids=[path for path, _ in VERBS])
def test_every_verb_shows_three_examples_and_speaks_json(path: str, verb: Any) -> None:
    text = verb.help or ""
    examples = re.findall(r"^\s*\S*.*heapwise ", text, flags=re.MULTILINE)
    assert len(examples) >= 3, f"{path}: {text}"
    names = {parameter.name for parameter in verb.params}
    if not hasattr(verb, "commands"):
        assert "json" in names or path in ("report", "export")


@pytest.mark.parametrize("path", [path for path, _ in VERBS])
def test_usage_and_arguments_are_the_metavars_alone(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*path.split(), "--help"]) == 0
    text = capsys.readouterr().out
    usage = text.partition("\n\n")[0]
    arguments = [p for p in dict(VERBS)[path].params if p.param_type_name == "argument"]
    written = " ".join(["[OPTIONS]", *(p.metavar or p.name.upper() for p in arguments)])
    below = " COMMAND [ARGS]..." if hasattr(dict(VERBS)[path], "commands") else ""
    assert " ".join(usage.split()) == f"Usage: heapwise {path} {written}{below}"
    assert re.findall(r"<[a-z]+[^>]*>", text) == []  # the types of Python


def test_each_verb_is_one_file() -> None:
    files = {path.stem for path in (ROOT / "python/heapwise/cli").glob("*.py")} - {"__init__"}
    assert {path for path, _ in VERBS if " " not in path} == files


def test_every_exit_code_is_documented() -> None:
    text = (ROOT / "docs/exit-codes.md").read_text()
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE)}
    assert documented == {int(code) for code in Exit}


def verbs_that_end_with(text: str, code: int) -> set[str]:
    """Those that docs/exit-codes.md names in the line of a code."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {code} |"))
    paths = "|".join(sorted((path for path, _ in VERBS), key=len, reverse=True))
    return set(re.findall(rf"`({paths})\b[^`]*`", line))


def test_the_codes_1_and_4_name_the_verbs_that_end_with_them() -> None:
    """Verbs with --strict end with 4, those with limits with 1 and 4, and some by their tests."""
    text = (ROOT / "docs/exit-codes.md").read_text()
    with_limits = {
        path for path, verb in VERBS if any("--limit" in option.opts for option in verb.params)
    }
    with_strict = {
        path for path, verb in VERBS if any("--strict" in option.opts for option in verb.params)
    }
    sources = {path.stem: path.read_text() for path in (ROOT / "python/heapwise/cli").glob("*.py")}
    by_test = {verb for verb, source in sources.items() if "Exit.NOT_TRUSTWORTHY" in source}
    assert by_test == {"selftest", "bisect", "peers"}
    by_test = by_test - {"peers"} | {"peers check", "peers add"}
    assert verbs_that_end_with(text, 1) == with_limits | {"resume"}
    assert verbs_that_end_with(text, 4) == with_limits | with_strict | by_test


def test_every_error_says_why_and_what_to_do() -> None:
    for id, entry in CATALOGUE.items():
        assert id == entry.id
        assert entry.why.endswith("."), id
        assert entry.do, id


def test_the_options_of_the_libraries_are_not_settings_of_a_verb(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not even of a verb with options of these names."""
    names = ["rounds", "malloc_stats", "gc_markers"]
    verb = SimpleNamespace(
        params=[
            SimpleNamespace(
                name=name,
                opts=[f"--{name.replace('_', '-')}"],
                param_type_name="option",
                multiple=False,
                nargs=1,
            )
            for name in names
        ]
    )
    monkeypatch.chdir(tmp_path)
    for name in names:
        monkeypatch.setenv(f"HEAPWISE_{name.upper()}", "7")
    found = settings.defaults(SimpleNamespace(commands={"run": verb}))
    assert found == {"run": {"rounds": "7"}}


@pytest.mark.parametrize("by_file", [True, False])
def test_settings_are_options_and_not_arguments(
    by_file: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``resume`` has an option ``--rounds``, ``report`` an argument RUN... that is called runs."""
    monkeypatch.chdir(tmp_path)
    if by_file:
        (tmp_path / "heapwise.toml").write_text("rounds = 5")
    else:
        monkeypatch.setenv("HEAPWISE_ROUNDS", "5")
    found = settings.defaults(typer.main.get_command(build_app()))
    assert {verb for verb, options in found.items() if options} == {
        "advise",
        "compare",
        "replay",
        "reproduce",
        "resume",
        "run",
        "serve",
    }
    assert str(found["compare"]["rounds"]) == "5"


def test_the_keys_of_settings_are_the_long_options(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever the parameter is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heapwise.toml").write_text('[report]\nopen = "no"\njson = true\n')
    found = settings.defaults(typer.main.get_command(build_app()))
    assert found["report"] == {"open_": "no", "as_json": True}


@pytest.mark.parametrize("option", ["store", "machine"])
@pytest.mark.parametrize("table", ["", "[compare]\n"])
def test_a_variable_that_is_read_elsewhere_has_priority_over_the_file(
    option: str,
    table: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(f"HEAPWISE_{option.upper()}", raising=False)
    (tmp_path / "heapwise.toml").write_text(f'{table}{option} = "file"\nseed = 3\n')
    command = typer.main.get_command(build_app())
    assert settings.defaults(command, "compare")["compare"] == {option: "file", "seed": 3}
    assert f": {', '.join(sorted([option, 'seed']))}\n" in capsys.readouterr().err
    monkeypatch.setenv(f"HEAPWISE_{option.upper()}", "variable")
    assert settings.defaults(command, "compare")["compare"] == {"seed": 3}
    assert ": seed\n" in capsys.readouterr().err
    monkeypatch.setenv(f"HEAPWISE_{option.upper()}", "")
    assert settings.defaults(command, "compare")["compare"] == {option: "file", "seed": 3}


def values_given(monkeypatch: pytest.MonkeyPatch, *words: str) -> dict[str, Any]:
    """What the command line passes on to the verb ``words[0]``."""
    command = typer.main.get_command(build_app([words[0]]))
    verb = command.commands[words[0]]  # type: ignore[attr-defined]
    found = dict[str, Any]()
    monkeypatch.setattr(verb, "callback", lambda **typed: found.update(typed))
    command.main(
        list(words), standalone_mode=False, default_map=settings.defaults(command, words[0])
    )
    return found


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("prepare", "sync; true", ["sync; true"]),
        ("export", "a.json", [Path("a.json")]),
        ("parameter_list", "mode=a,b", ["mode=a,b"]),
        ("parameter_scan", "'size' 1 8", ("size", "1", "8")),
    ],
)
def test_a_variable_gives_an_option_with_several_values_what_a_flag_would(
    variable: str, value: str, wanted: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"HEAPWISE_{variable.upper()}", value)
    assert wanted in values_given(monkeypatch, "compare", "./a").values()


def test_an_option_of_three_words_is_a_list_in_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "heapwise.toml"
    file.write_text('parameter_scan = ["size", 1, "8"]')
    assert ("size", "1", "8") in values_given(monkeypatch, "compare", "./a").values()
    for value in ('"size 1 8"', '["size", 1]', '["size", 1, true]'):
        file.write_text(f"parameter_scan = {value}")
        with pytest.raises(Problem, match=r"parameter_scan = .* a list of 3 texts"):
            settings.defaults(typer.main.get_command(build_app(["compare"])), "compare")


@pytest.mark.parametrize("value", ["size 1", "size 1 8 9", "size '1 8", ""])
def test_a_variable_with_another_number_of_words_is_named(
    value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEAPWISE_PARAMETER_SCAN", value)
    with pytest.raises(Problem, match="HEAPWISE_PARAMETER_SCAN") as caught:
        settings.defaults(typer.main.get_command(build_app(["compare"])), "compare")
    assert caught.value.id == "E003"


def test_every_repeatable_option_can_be_set_by_a_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    command = typer.main.get_command(build_app())
    repeatable = {
        (name, settings._key(option), option.name)
        for name, verb in command.commands.items()  # type: ignore[attr-defined]
        for option in verb.params
        if option.param_type_name == "option" and option.multiple
    }
    assert len(repeatable) > 20
    for _, key, _ in repeatable:
        monkeypatch.setenv(f"HEAPWISE_{key.upper()}", "x,y")
    found = settings.defaults(command)
    assert {(name, field) for name, _, field in repeatable} <= {
        (name, field)
        for name, chosen in found.items()
        for field, value in chosen.items()
        if value == ["x,y"]
    }


@pytest.mark.parametrize("by_file", [True, False])
def test_a_setting_with_a_control_character_is_refused(
    by_file: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """--help prints the defaults, and a terminal would obey them."""
    monkeypatch.chdir(tmp_path)
    if by_file:
        (tmp_path / "heapwise.toml").write_text('seed = "\\u001b[2J"')
    else:
        monkeypatch.setenv("HEAPWISE_SEED", "\x1b[2J")
    with pytest.raises(Problem, match="control character") as caught:
        settings.defaults(typer.main.get_command(build_app()))
    assert caught.value.id == "E003"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["A=x y", "B=1", "./p", "C=x y"], "A='x y' B=1 ./p 'C=x y'"),
        (["./p", "a b"], "./p 'a b'"),
        (["2=x y", "./p"], "'2=x y' ./p"),
        (["A=", "./p"], "A= ./p"),
    ],
)
def test_a_command_to_paste_sets_its_variables(words: list[str], text: str) -> None:
    assert pasted(words) == text


def test_the_use_it_line_can_be_pasted() -> None:
    stored = compare_run()
    options = replace(stored.run.plan.options, as_typed=["A=x y", "env"])
    subjects = [
        replace(s, peer=s.peer and replace(s.peer, path="/lib/x.so"))
        for s in stored.run.plan.subjects
    ]
    line = saved_line(analyse(Evidence(with_plan(stored, options=options, subjects=subjects))))
    command = line.partition("use it: ")[2]
    assert command.startswith("LD_PRELOAD=$(heapwise peers path ")
    assignments = command.partition(") ")[2]
    done = subprocess.run(["sh", "-c", assignments], capture_output=True, text=True, check=True)
    assert "A=x y" in done.stdout.splitlines()


def test_the_progress_line() -> None:
    experiment = Experiment(1, "compare", "", "", "", "", [], [], [], "", 1, 0)
    step = Step(experiment, Subject("jemalloc", ""), {}, 14)
    text = describe(step, Progress(14, 31, 0.5, 52.0))
    assert text == "round 14 of 31  ##########----------  jemalloc   eta 0:52"


def test_the_progress_line_says_how_long_the_process_takes() -> None:
    experiment = Experiment(1, "compare", "", "", "", "", [], [], [], "", 1, 0)
    step = Step(experiment, Subject("glibc", ""), {}, 0)
    assert describe(step, Progress(1, 2, 0.5, 52.0), 12.0, 3600.0) == (
        "round 1 of 2  ##########----------  glibc   12 s so far   eta 0:40"
    )
    assert describe(step, Progress(1, None, 0.0, None), 75.0, 3600.0) == (
        "round 1  --------------------  glibc   1 min 15 s so far "
        "(no --timeout; it is ended after 60 min)"
    )


def test_a_round_beyond_the_planned_ones_says_why_it_is_run_and_how_many_may_come() -> None:
    experiment = Experiment(1, "compare", "", "", "", "", [], [], [], "", 1, 0)
    step = Step(experiment, Subject("glibc", ""), {}, 12)
    assert describe(step, Progress(13, 24, 0.5, 95.0, makes_up=True), 5.0, 3600.0) == (
        "round 13 of at most 24  ##########----------  glibc   5 s so far   eta at most 1:30"
        "   (in place of samples that do not count)"
    )


def test_off_a_terminal_lines_come_while_the_first_process_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = Experiment(1, "compare", "", "", "", "", [], [], [], "", 1, 0)
    monkeypatch.setattr(progress, "EVERY_S", 0.02)
    watcher = progress.Lines()
    watcher.begin(compare_run().run)
    try:
        watcher.step(Step(experiment, Subject("glibc", ""), {}, 0), Progress(1, None, 0.0, None))
        said = ""
        for _ in range(1000):
            said += capsys.readouterr().err
            if said.count("round 1") >= 2:
                break
            time.sleep(0.01)
    finally:
        watcher.end()
    assert said.count("round 1") >= 2


def test_columns_are_aligned() -> None:
    assert align([["", "time", "x"], ["glibc", "2 s", ""], ["mi", "10 s", "fast"]]) == (
        "       time  x\nglibc  2 s\nmi     10 s  fast"
    )


@pytest.mark.parametrize(
    ("variables", "terminal", "coloured"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], terminal: bool, coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    class Stream:
        def isatty(self) -> bool:
            return terminal

    assert console.colours(Stream()) is coloured  # type: ignore[arg-type]


def test_long_words_go_on_under_their_beginning_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = " ".join(["word"] * 60)
    assert folding.labelled("Advice   ", text) == f"Advice   {text}"
    monkeypatch.setattr(folding, "is_live", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "60")
    first, *others = folding.labelled("Advice   ", text).splitlines()
    assert len(others) > 3
    assert first.startswith("Advice   word")
    assert all(line.startswith(" " * 9 + "word") and len(line) < 60 for line in others)


@pytest.mark.parametrize(
    ("done", "planned", "words"),
    [
        (3, 0, "3 rounds"),
        (0, 6, "0 of 6 rounds"),
        (6, 6, "6 of 6 rounds"),
        (8, 6, "8 rounds, 2 of them in place of samples that do not count"),
    ],
)
def test_a_stopped_run_says_how_many_rounds_it_has(done: int, planned: int, words: str) -> None:
    assert rounds_words(done, planned) == words


@pytest.mark.parametrize("stop", [KeyboardInterrupt, app.Stopped])
def test_ctrl_c_while_a_class_is_made_stops_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stop: type[BaseException]
) -> None:
    class Late:
        def __set_name__(self, owner: type, name: str) -> None:
            raise stop

    def invoke(words: object) -> int:
        return len(type("Made", (), {"late": Late()}).__name__)

    monkeypatch.setattr(app, "_invoke", invoke)
    assert run(["list"]) == 130
    assert capsys.readouterr().err == "stopped by you. Nothing was lost.\n"
