"""Command lines: of the verbs that read stored runs, and of random words."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import hostile
import typer

from heapwise.cli.frame.app import build_app

FORMATS = [
    "csv",
    "json",
    "markdown",
    "allocatorbench",
    "pool-vs-malloc",
    "binary-trees",
    "hyperfine",
    "google-benchmark",
    "pages",
]
SAFE_NAMES = [word for word in hostile.NAMES if word not in ("/dev/full", "/", "~", "~root")]
VALUES = [
    "1",
    "0",
    "-1",
    "6",
    "1.5",
    "90s",
    "10m",
    "1h",
    "0s",
    "auto",
    "yes",
    "no",
    "all",
    "none",
    "glibc",
    "jemalloc",
    "glibc,jemalloc",
    "toy=/nowhere.so",
    "x=",
    "=x",
    "threads=1,2",
    "threads=",
    "block_size=a",
    "pool/*",
    "pool/bulk",
    "E021",
    "V5",
    "V99",
    "5a10",
    "last",
    "0-3,6",
    "0",
    "9999",
    "3-1",
    "csv",
    "pages",
    "C.UTF-8",
    "../out",
    "a/b",
    "--",
    "-",
    "/dev/full",
    "/proc/nonexistent/x",
    "/proc/version",
    ".",
]
"""Root, too, can neither make nor change a file of the machine at one of these paths."""


@dataclass
class Call:
    """One command: its words, its environment, what may be written, and on what it prints."""

    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    allowed: list[Path] = field(default_factory=list)
    terminal: bool = False
    encoding: str = "utf-8"
    settings: bytes | None = None
    """Of heapwise.toml in the working folder."""


def of_stored(random: Random, id: str, store: Path, out: Path) -> Call:
    """A verb that reads the run. Without --output it may write into the store alone."""
    run = random.choice([id, id, id, "last", str(store / "runs" / id)])
    kind = random.randrange(12)
    if kind < 4:
        words = ["report", run]
        words += [["-o", str(out / "r.html")], []][random.randrange(2)]
        words += ["--redact"] if random.random() < 0.3 else []
        words += ["--all"] if random.random() < 0.1 else []
    elif kind < 9:
        format = random.choice(FORMATS)
        words = ["export", run, "-f", format]
        if format == "pages" or random.random() < 0.3:
            words += ["-o", str(out / "e")]
        words += ["--redact"] if random.random() < 0.2 else []
    elif kind == 9:
        words = ["report", "--list"]
    elif kind == 10:
        words = ["resume", run, "--dry-run"]
    else:
        words = ["compare", "--dry-run", "--runs", "1", "--", "/bin/true"]
    if words[0] in ("report", "resume") and random.random() < 0.4:
        words.append("--json")
    return Call(words, _terminal(random), [store, out], random.random() < 0.5, _encoding(random))


def of_words(random: Random, root: Path, cwd: Path, store: Path) -> Call:
    """Options of the verbs, their values and rubbish, in any order. Nothing is measured."""
    verbs = _verbs()
    verb = random.choice(sorted(verbs))
    words = [verb]
    if verb in ("compare", "run", "resume", "reproduce"):
        words.append("--dry-run")
    elif verb == "selftest":
        words.append(random.choice(["--help", "--nonsense", "word"]))
    elif verb == "peers":
        words.append(random.choice(["list", "path", "remove", "nonsense", "", "--json"]))
    options = verbs[verb]
    for _ in range(random.choice([0, 1, 2, 3, 6, 12])):
        words += _words(random, options)
    if verb == "compare" and random.random() < 0.8:
        program = random.choice(
            ["/bin/true", "true", "sh", "/etc/passwd", "/", "", "nonexistent", _value(random)]
        )
        words += ["--", program, *[_value(random) for _ in range(random.randrange(3))]]
    if random.random() < 0.05:
        words.insert(0, _value(random))
    # With --debug a traceback is what was asked for.
    words = [word for word in words if "\0" not in word and not word.startswith("--deb")]
    named = [part for word in words for part in (word, word.partition("=")[2], word[2:])]
    allowed = [
        store,
        *(
            Path(os.path.abspath(cwd / part))  # noqa: PTH100
            for part in named
            if part and part != "/"
        ),
    ]
    environment = _terminal(random) | _settings(random, options)
    settings = _toml(random, options) if random.random() < 0.2 else None
    return Call(
        words,
        environment,
        [place for place in allowed if place != root],
        random.random() < 0.5,
        _encoding(random),
        settings,
    )


@cache
def _verbs() -> dict[str, list[Any]]:
    commands: Any = typer.main.get_command(build_app())
    return {name: list(command.params) for name, command in commands.commands.items()}


def _words(random: Random, options: list[Any]) -> list[str]:
    named = [option for option in options if any(o.startswith("-") for o in option.opts)]
    if random.random() < 0.25 or not named:
        return [_value(random)]
    option = random.choice(named)
    name = random.choice(option.opts)
    if random.random() < 0.05:
        name = name[:-1]
    if getattr(option, "is_flag", False) and random.random() < 0.9:
        return [name]
    value = _value(random)
    return [f"{name}={value}"] if random.random() < 0.3 else [name, value]


def _value(random: Random) -> str:
    kind = random.randrange(5)
    if kind < 3:
        return random.choice(VALUES)
    if kind == 3:
        return (
            random.choice(SAFE_NAMES)
            .encode(errors="surrogatepass")
            .decode(errors="surrogateescape")
        )
    return os.fsdecode(
        random.randbytes(random.randrange(1, 9)).replace(b"\0", b"").replace(b"/", b"")
    )


def _settings(random: Random, options: list[Any]) -> dict[str, str]:
    """Variables of the environment that are read, and a few that look like them."""
    names = [
        f"HEAPWISE_{option.name.upper()}"
        for option in options
        if option.name not in ("install_completion", "show_completion", "dry_run")
    ]
    names += [
        "HEAPWISE_PEERS",
        "HEAPWISE_NATIVE",
        "HEAPWISE_TREES",
        "HEAPWISE_X",
        "HEAPWISE_",
        "HEAPWISE_MALLOC_X",
        "HEAPWISE_PAD",
        "HOME",
        "XDG_DATA_HOME",
        "LANG",
        "PATH",
    ]
    count = random.choice([0, 0, 0, 1, 2])
    chosen = {random.choice(names): _value(random).replace("\0", "") for _ in range(count)}
    # These are places where the code may write: they stay in the sandbox.
    return {
        name: value
        for name, value in chosen.items()
        if name not in ("HEAPWISE_OUTPUT", "HEAPWISE_STORE", "HOME", "XDG_DATA_HOME") or not value
    }


def _toml(random: Random, options: list[Any]) -> bytes:
    keys = [option.name for option in options] + ["nonsense", "compare", "run"]
    keys = [key for key in keys if key not in ("dry_run", "output", "store")]
    lines = []
    for _ in range(random.randrange(4)):
        if random.random() < 0.3:
            lines.append(f"[{random.choice(['compare', 'run', 'report', 'x', '', 'a.b', '[c]'])}]")
        shown = random.choice(
            [
                "1",
                "1.5",
                "true",
                '"x"',
                "[1, 2]",
                '["a"]',
                "{a = 1}",
                "nan",
                "1979-05-27",
                "'''",
                '"\\u0007"',
                "-1",
                "99999999999999999999",
            ]
        )
        lines.append(f"{random.choice(keys)} = {shown}")
    text = "\n".join(lines).encode()
    return text + (hostile.data(random) if random.random() < 0.2 else b"")


def _terminal(random: Random) -> dict[str, str]:
    columns = random.choice(["80", "1", "0", "-5", "40", "7", "100000", "x", ""])
    return {"COLUMNS": columns, "TERM": random.choice(["dumb", "xterm", "", "vt52"])}


def _encoding(random: Random) -> str:
    return random.choice(["utf-8", "utf-8", "ascii", "latin-1"])
