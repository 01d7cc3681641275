"""Values that a person with bad intentions, or a disk with a fault, puts where others belong."""

from __future__ import annotations

from random import Random
from typing import Any

SCRIPT = "<script>alert(4711)</script>"
"""It must never be in a page as it is here."""

NAMES = [
    "",
    " ",
    ".",
    "..",
    "../../outside/planted",
    "/",
    "/dev/full",
    "a/../../../outside/planted",
    "-",
    "--",
    "-o",
    "--help",
    "last",
    "~",
    "~root",
    "$HOME",
    "`id`",
    "%s%n",
    "{0}",
    "{}",
    "CON",
    SCRIPT,
    "</script>" + SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "]]>",
    "&amp;<b>",
    "{{7*7}}",
    "{% raw %}",
    "[red]text[/red]",
    "[/]",
    "[link=x]",
    "|a|b|",
    "`code`",
    "# title",
    "a,b;c\td",
    "=1+1",
    "+cmd|'/C calc'!A0",
    "@SUM(A1)",
    "-1",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "\x00",
    "a\x00b",
    "a\r\nb",
    "\n",
    "\u202eright to left",
    "\u2028",
    "\u200e",
    "\ufeff",
    "\ud800",
    "\udcff",
    "\U0010ffff",
    "é",
    "e\u0301",
    "名前",
    "😀",
    "a" * 10_000,
    "a " * 5_000,
    "nan",
    "inf",
    "1e999",
    "0x10",
    "malloc@",
    "@",
    "glibc-control",
    "-control-control",
    "malloc@glibc",
    "a/b",
    "compare",
    "pool/bulk",
    "wall_time",
    "2026-01-02T03:04:05Z",
    "9999-99-99T99:99:99Z",
    "null",
]

NUMBERS = [
    0,
    -0.0,
    1,
    -1,
    2,
    0.5,
    255,
    2**31,
    -(2**31),
    2**53 + 1,
    2**62,
    -(2**62),
    2**63,
    2**64,
    10**30,
    -(10**400),
    1e-320,
    1e99,
    -1e99,
    1e101,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    1e-9,
    3.0000000001,
]


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def name(random: Random) -> str:
    return random.choice(NAMES)


def number(random: Random) -> Any:
    return random.choice(NUMBERS)


def value(random: Random) -> Any:
    """Of any type that JSON has."""
    kind = random.randrange(8)
    if kind < 2:
        return name(random)
    if kind < 4:
        return number(random)
    if kind == 4:
        return random.choice([None, True, False])
    if kind == 5:
        return [value(random) for _ in range(random.randrange(3))]
    if kind == 6:
        return {name(random): value(random) for _ in range(random.randrange(3))}
    return nested(random.choice([1, 3, 60, 400]))


def data(random: Random) -> bytes:
    """Some bytes, text or not."""
    choices = [
        b"\x00",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\n",
        b"{",
        b"}",
        b"]",
        b'"',
        b"\\u0000",
        b"1e999",
        b"\xc3",
        random.randbytes(random.randrange(1, 40)),
    ]
    return random.choice(choices)
