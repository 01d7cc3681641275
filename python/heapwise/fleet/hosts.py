"""``hosts.toml``: one line for each machine."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from heapwise.errors import Problem

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}")
LOCAL = "local"
KEYS = {"ssh", "python", "folder", "options"}
EXAMPLE = 'bench1 = "local"   or   bench2 = "user@bench2.example"'


@dataclass(frozen=True)
class Host:
    """ssh: the destination as ssh has it, "" for a process here. python: the interpreter there
    that has ``heapwise[fleet]``'s dependencies; "" for ours. folder: where the machine keeps jobs;
    "" for the user's data folder there. options: of ssh, as ``-p`` and ``2222``."""

    name: str
    ssh: str = ""
    python: str = ""
    folder: str = ""
    options: tuple[str, ...] = ()


def read_hosts(path: Path) -> list[Host]:
    """In the order of the file. Problem E012 if it cannot be read or names no machine."""
    try:
        document = tomllib.loads(path.read_text())
    except OSError as error:
        raise Problem(
            "E012",
            f"{path} cannot be read: {error.strerror}",
            why="It is the file that lists the machines. Nothing was started.",
            do=f"write lines as {EXAMPLE}",
        ) from error
    except ValueError as error:
        raise Problem(
            "E012", f"{path} is not a list of machines: {error}", do=f"write lines as {EXAMPLE}"
        ) from error
    hosts = [_host(name, value, path) for name, value in document.items()]
    if not hosts:
        raise Problem("E012", f"{path} names no machine", do=f"write lines as {EXAMPLE}")
    return hosts


def _host(name: str, value: object, path: Path) -> Host:
    if not NAME.fullmatch(name):
        raise Problem(
            "E012",
            f"{path}: {name} is not a name of a machine",
            do="use letters, digits and -, at most 32",
        )
    table = {"ssh": value} if isinstance(value, str) else value
    if not isinstance(table, dict) or not table.keys() <= KEYS or "ssh" not in table:
        raise Problem(
            "E012",
            f"{path}: {name} is neither a destination of ssh nor a table of "
            f"{', '.join(sorted(KEYS))}",
            do=f"write lines as {EXAMPLE}",
        )
    words = {key: str(table.get(key, "")) for key in ("ssh", "python", "folder")}
    if words["ssh"].startswith("-"):
        raise Problem(
            "E012",
            f"{path}: {name} = {words['ssh']} would be an option of ssh",
            do="put options of ssh into the key options of a table",
        )
    ssh = "" if words["ssh"] == LOCAL else words["ssh"]
    options = tuple(str(word) for word in table.get("options", []))
    return Host(name, ssh, words["python"], words["folder"], options)
