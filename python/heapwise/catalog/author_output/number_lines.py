"""Lines of a name, and numbers with the words that say what each is: ``A  64 bytes  9 ns``."""

from __future__ import annotations

import re

from heapwise.catalog.author_output.damaged import DamagedOutput, number_of

LEAST_NUMBERS = 2
NUMBER = r"\d[\d,]*(?:\.\d+)?"
LINE = re.compile(rf"(?P<name>[A-Za-z][^\d]*?)\s+(?P<rest>{NUMBER}\s+[A-Za-z].*)")
PART = re.compile(rf"({NUMBER})\s+([A-Za-z][A-Za-z/% ]*?)(?=\s+\d|\s*$)")


def is_form(text: str) -> bool:
    return any(len(_parts(line)) >= LEAST_NUMBERS for line in text.splitlines())


def records(text: str) -> list[dict[str, float | str]]:
    """One for each such line: ``name``, and each number under its words. Other lines are passed
    over. DamagedOutput for a line that has two numbers with the same words."""
    found: list[dict[str, float | str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = _parts(line)
        if len(parts) < LEAST_NUMBERS:
            continue
        names = [words for _, words in parts]
        if len(set(names)) < len(names):
            raise DamagedOutput(number, "two of its numbers have the same words behind them")
        name = LINE.fullmatch(line.strip())
        record: dict[str, float | str] = {"name": name["name"] if name else ""}
        record |= {words: value for value, words in parts}
        found.append(record)
    return found


def _parts(line: str) -> list[tuple[float, str]]:
    """The numbers of a line, each with its words; none if the line has another form."""
    whole = LINE.fullmatch(line.strip())
    if whole is None:
        return []
    found = [
        (number_of(part[1].replace(",", "")), part[2]) for part in PART.finditer(whole["rest"])
    ]
    return [(value, words) for value, words in found if value is not None]
