"""The loop of an experiment: its source, and its instructions in the program."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwise.errors import Problem
from heapwise.natives import CHECKOUT, native_folder

OBJDUMP = ("objdump", "-d", "-C", "--no-show-raw-insn", "-M", "intel")
TIMEOUT_S = 60.0
MOST_INSTRUCTIONS = 32
"""The most that is shown of a program; a longer loop teaches nothing on a page."""

SYMBOL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
JUMP = re.compile(r"^j\w+\s+([0-9a-f]+)\b")
LONGEST_NAME = 90
OPERAND_NAME = re.compile(r" <.*>$")
COLD = "[clone .cold]"
"""What a compiler puts elsewhere because it hardly ever runs."""

ABOVE = ("template", "[[", "///", "//")
"""How lines begin that belong to the definition below them."""


def source_of(experiment: str, function: str, sources: Path | None = None) -> list[str]:
    """The lines of the function's definition, its comment included. Empty if it is not there.

    sources: the folder of the families; None: of the checkout, else the installed one."""
    family, _, name = experiment.partition("/")
    folder = (sources or _sources()) / family
    headers = sorted((folder / "sources").rglob("*.hpp"))
    for path in (folder / f"{name}.cpp", *headers):
        if path.is_file() and (found := _definition(path.read_text("utf-8"), function)):
            return found
    return []


def _sources() -> Path:
    of_checkout = CHECKOUT / "experiments"
    if of_checkout.is_dir():
        return of_checkout
    try:
        return native_folder() / "sources"
    except Problem:  # no native parts are here
        return of_checkout


def loop_of(program: Path, function: str) -> list[str]:
    """The first innermost loop of a function of this name, below a comment with its whole name; all
    of a function without a loop. Empty without objdump, and if there is no such function."""
    try:
        done = subprocess.run(
            [*OBJDUMP, str(program)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0 or not function:
        return []
    blocks = list(_blocks(done.stdout.splitlines(), function))
    loops = [(name, loop) for name, block in blocks for loop in _innermost(block)]
    whole = [(name, block) for name, block in blocks if len(block) <= MOST_INSTRUCTIONS]
    return next((_shown(name, code) for name, code in (*loops, *whole)), [])


@dataclass(frozen=True)
class _Instruction:
    address: int
    text: str

    @property
    def target(self) -> int | None:
        """The address that a jump goes to, if it is known."""
        jump = JUMP.match(self.text)
        return int(jump[1], 16) if jump else None


def _definition(text: str, function: str) -> list[str]:
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not re.search(rf"\b{re.escape(function)}\(", line) or line.startswith((" ", "/")):
            continue
        end = _end_of(lines, at)
        if end is None:
            continue
        first = at
        while first > 0 and lines[first - 1].startswith(ABOVE):
            first -= 1
        return lines[first : end + 1]
    return []


def _end_of(lines: Sequence[str], at: int) -> int | None:
    """The line of the closing brace; None for a declaration."""
    depth, opened = 0, False
    for number in range(at, len(lines)):
        if not opened and ";" in lines[number].partition("{")[0]:
            return None
        depth += lines[number].count("{") - lines[number].count("}")
        opened = opened or "{" in lines[number]
        if opened and depth <= 0:
            return number
    return None


def _blocks(lines: Sequence[str], function: str) -> Iterator[tuple[str, list[_Instruction]]]:
    """The instructions of each function that has this name, with the whole of its name."""
    named = re.compile(rf"(?<!\w){re.escape(function)}\(")
    block: list[_Instruction] | None = None
    name = ""
    for line in lines:
        if symbol := SYMBOL.match(line):
            if block:
                yield name, block
            name = symbol[1]
            block = [] if named.search(_bare(symbol[1])) and COLD not in symbol[1] else None
        elif block is not None and (one := INSTRUCTION.match(line)):
            block.append(_Instruction(int(one[1], 16), " ".join(one[2].split())))
    if block:
        yield name, block


def _bare(symbol: str) -> str:
    """Without the arguments of templates, which name other functions."""
    kept, depth = [], 0
    for letter in symbol.replace("->", ""):
        depth -= letter == ">"
        if depth == 0 and letter not in "<>":
            kept.append(letter)
        depth += letter == "<"
    return "".join(kept)


def _shown(name: str, code: Sequence[_Instruction]) -> list[str]:
    """A jump to the first instruction goes to ``top``; others have no name behind the address."""
    lines = [f"; {name}" if len(name) <= LONGEST_NAME else f"; {name[:LONGEST_NAME]}..."]
    for one in code:
        text = OPERAND_NAME.sub("", one.text) if one.target is not None else one.text
        if one.target == code[0].address:
            text = f"{text.split()[0]} top"
        lines.append(f"top: {text}" if one is code[0] else f"     {text}")
    return lines


def _innermost(block: Sequence[_Instruction]) -> list[list[_Instruction]]:
    at_address = {one.address: at for at, one in enumerate(block)}
    spans = sorted(
        (at_address[one.target], at)
        for at, one in enumerate(block)
        if one.target is not None and at_address.get(one.target, at + 1) <= at
    )
    inner = [
        (first, last)
        for first, last in spans
        if not any(
            (other_first, other_last) != (first, last)
            and first <= other_first
            and other_last <= last
            for other_first, other_last in spans
        )
    ]
    return [
        list(block[first : last + 1]) for first, last in inner if last - first < MOST_INSTRUCTIONS
    ]
