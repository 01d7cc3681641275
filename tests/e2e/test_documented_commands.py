"""Every command of heapwise in the documents: it is parsed, and a comparison is planned.

Fenced commands and those within a sentence. A program that a page invents is a stub here, so what
is tested is that the words do what the page says they do. A command that cannot be planned is in
``ELSEWHERE``, with the reason.
"""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from heapwise.cli.frame.app import verbs_command

pytestmark = pytest.mark.usefixtures("built_native")

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`((?:\.venv/bin/)?heapwise [^`\n]+)`")
LEADING = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S*/)?heapwise (.*)$")

PLANNED = ("compare", "run", "serve")

ELSEWHERE = {
    "--fleet": "tests/e2e/test_fleet.py has clusters",
    "...": "it stands for any words",
    "…": "it stands for any words",
    "example/mine": "tests/lab/native/test_add_experiment.py makes it",
}


def commands() -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [
            line
            for _, _, block in FENCE.findall(text)
            for line in block.replace("\\\n", " ").splitlines()
        ]
        lines += SPAN.findall(FENCE.sub("", text))
        for line in lines:
            if match := LEADING.match(line.strip()):
                words = match[1].strip().replace("PID", "1").replace(r"\|", "|")
                if words[:1].isalpha() or words[:1] == "-":  # and not a row of a table
                    found.setdefault(words, page.name)
    return [(page, words) for words, page in found.items()]


COMMANDS = commands()


def split(words: str) -> list[str]:
    """Up to what the shell does with the output."""
    parts = shlex.split(words, comments=True)
    return list(itertools.takewhile(lambda part: part not in ("|", ">", "&&", ";"), parts))


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) > 60


def test_their_options_exist_and_their_words_fit() -> None:
    wrong = [
        f"{page}: heapwise {words}: {trouble}"
        for page, words in COMMANDS
        if (trouble := parsing_trouble(words))
    ]
    assert wrong == []


def parsing_trouble(words: str) -> str:
    parts = split(words)
    if parts[0].startswith("-") or len(parts) == 1 or any(mark in words for mark in ("...", "…")):
        return ""
    root = verbs_command(parts[0])
    context: Any = root.make_context("heapwise", list(parts), resilient_parsing=False)
    name, command, rest = root.resolve_command(context, parts)
    try:
        command.make_context(name, list(rest), parent=context)
    except Exception as error:
        is_a_name = "Missing argument" in str(error) and len(parts) == 2
        return "" if is_a_name else str(error)
    return ""


def plannable(words: str) -> bool:
    parts = split(words)
    return (
        len(parts) > 2
        and parts[0] in PLANNED
        and not any(mark in f"{words} " for mark in ELSEWHERE)
    )


TO_PLAN = [(page, words) for page, words in COMMANDS if plannable(words)]


@pytest.mark.parametrize(("page", "words"), TO_PLAN, ids=[words for _, words in TO_PLAN])
def test_it_can_be_planned(heapwise: Any, tmp_path: Path, page: str, words: str) -> None:
    parts = split(words)
    stub_programs(tmp_path, parts)
    done = heapwise(
        parts[0],
        "--dry-run",
        *parts[1:],
        env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin:/usr/sbin"},
    )
    said = " ".join(done.stderr.split())
    if "not installed" in said or "E053" in said or "Python packages are not here" in said:
        pytest.skip("an allocator or packages that this machine lacks")
    assert done.returncode == 0, f"{page}: heapwise {words}\n{done.stderr}"


def stub_programs(folder: Path, parts: list[str]) -> None:
    """Each word that may name a program or a file, where it is not on this machine."""
    for part in parts:
        for word in (part, *part.partition("=")[2:], *part.split()):
            if not re.fullmatch(r"[\w./+-]+", word) or word.startswith("-"):
                continue
            bare = "/" not in word
            if bare and Path("/usr/bin", word).exists():
                continue
            for place in [folder / word, *([folder / "bin" / word] if bare else [])]:
                if place.is_absolute() and not str(place).startswith(str(folder)):
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                if not place.exists():
                    place.symlink_to("/bin/true")
