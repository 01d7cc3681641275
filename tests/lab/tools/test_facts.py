"""What the documents list is what the code has: verbs, checks, options, variables, presets."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from heapwise.cli.frame.app import build_app
from heapwise.cli.frame.ask import settings

ROOT = Path(__file__).resolve().parents[3]
APP: Any = typer.main.get_command(build_app())

INTERNAL = {
    "HEAPWISE_COUNT_OUT",
    "HEAPWISE_MALLOC_PROFILE",
    "HEAPWISE_PAD",
    "HEAPWISE_PROBE_OUT",
    "HEAPWISE_RECORD",
    "HEAPWISE_RECORD_FILE",
    "HEAPWISE_RELINK_B",
    "HEAPWISE_RELINK_FOLDER",
    "HEAPWISE_RELINK_LAYOUTS",
    "HEAPWISE_RELINK_PROGRAM",
    "HEAPWISE_RELINK_TOOLS",
    "HEAPWISE_SCRIPT",
    "HEAPWISE_SENT_PEERS",
    "HEAPWISE_FLEET_LOCK",
    "HEAPWISE_FLEET_ORIGIN",
}
"""Variables by which one of our programs tells another something, and an option of the heap. They
are not of the laboratory, or not for users."""

PAGES = ("README.md", "CONTRIBUTING.md", ".github/**/*.md", "docs/*.md", "docs/how-to/*.md")
OF_OTHERS = {
    "--describe",
    "--self-test",
    "--subject",  # of the program of an experiment
    "--operation-ns",
    "--shards",
    "--transfer-ns",
    "--whole-runs",  # of tools/
    "--async",
    "--no-as-needed",
    "--no-nanny",
    "--rate",
    "--rps",
    "--temporary-allocations",
}
"""Options of other programs that the pages name. The last line has those that are not ours."""


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_has_each_verb_once() -> None:
    table = text_of("README.md").split("| command | purpose |\n")[1].split("\n\n")[0]
    named = [
        verb
        for row in table.splitlines()[1:]
        for verb in re.findall(r"`([a-z]+)`", row.split("|")[1])
    ]
    assert sorted(named) == sorted(APP.commands)


def test_the_readme_has_the_number_of_checks() -> None:
    [number] = re.findall(r"each of (\d+) checks", text_of("README.md"))
    assert int(number) == len(list((ROOT / "python/heapwise/trust").glob("*/v[0-9]*.py")))


def test_the_options_of_the_collector_are_in_its_table() -> None:
    read = re.findall(r'^    \{"([A-Z_]+)",', text_of("src/gc/base/options.cpp"), re.MULTILINE)
    listed = re.findall(
        r"^\| `HEAPWISE_GC_([A-Z_]+)` \|", text_of("docs/how-to/use-the-collector.md"), re.MULTILINE
    )
    assert read != []
    assert sorted(listed) == sorted(read)


def test_each_variable_of_the_laboratory_is_in_the_table() -> None:
    listed = re.findall(r"^\| `(HEAPWISE_\w+)` \|", text_of("docs/settings.md"), re.MULTILINE)
    assert sorted(listed) == sorted(set(variables()) - INTERNAL)
    assert set(listed) <= settings.OTHER_VARIABLES


def variables() -> Iterator[str]:
    """Each name of a variable that is a constant in the laboratory's code."""
    for path in (ROOT / "python/heapwise").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.fullmatch(r"HEAPWISE_[A-Z_]+[A-Z]", node.value)
                and not node.value.startswith("HEAPWISE_TOY_")
            ):
                yield node.value


def test_the_settings_of_the_example_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", text_of("docs/settings.md"), re.DOTALL)
    (tmp_path / "heapwise.toml").write_text(example)
    monkeypatch.chdir(tmp_path)
    read = settings.defaults(APP)["compare"]
    assert len(read) == len(tomllib.loads(example)["compare"]) + 1


def test_the_presets_are_those_of_cmake() -> None:
    presets = json.loads(text_of("CMakePresets.json"))["configurePresets"]
    [sentence] = re.findall(r"The presets are (.*?); each", text_of("CONTRIBUTING.md"), re.DOTALL)
    assert re.findall(r"`(\w+)`", sentence) == [
        each["name"] for each in presets if not each.get("hidden")
    ]


def options_of(command: Any) -> set[str]:
    """All options of a verb and of the verbs below it."""
    own = {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    return own.union(*(options_of(each) for each in getattr(command, "commands", {}).values()))


def test_each_option_that_a_page_names_exists() -> None:
    known = options_of(APP) | {"--help"}
    unknown = {
        option
        for pattern in PAGES
        for path in ROOT.glob(pattern)
        for option in re.findall(r"`(--[a-z][a-z-]+)", path.read_text(encoding="utf-8"))
        if option not in known
    }
    assert unknown == OF_OTHERS


def test_each_verb_that_a_page_names_has_the_options_that_follow() -> None:
    wrong = []
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            for words in re.findall(r"`heapwise ([a-z]+(?: [^`']*)?)`", text):
                verb, *rest = words.split(" -- ")[0].split()
                command = APP.commands.get(verb)
                named = {word.partition("=")[0] for word in rest if word.startswith("--")}
                if command is None or named - options_of(command) - {"--help"}:
                    wrong.append(f"{path.name}: {words}")
    assert wrong == []


def test_each_form_of_an_issue_says_what_it_is_for() -> None:
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    assert forms != []
    for form in forms:
        assert re.match(r"---\nname: \S.*\nabout: \S.*\n---\n", form.read_text(encoding="utf-8"))
