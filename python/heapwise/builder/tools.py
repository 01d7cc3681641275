"""What a recipe needs on this machine, and what to install when it is not there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess

from heapwise.catalog import PeerBuild
from heapwise.errors import Problem

NEEDED = {
    "configure": ("cargo", "make", "cc", "c++"),
    "cmake": ("cargo", "cmake", "cc", "c++"),
    "wheel": ("pip",),
}
INSTALL = {
    "cargo": "apt install cargo-web (1.78 or newer)   or   the installer of rustup",
    "make": "apt install make",
    "cmake": "apt install cmake",
    "cc": "apt install gcc",
    "c++": "apt install g++",
    "pip": "python3 -m ensurepip   or   apt install python3-pip",
}


def demand(name: str, build: PeerBuild) -> None:
    """Problem E054 with everything that is missing, before anything was started."""
    missing = [tool for tool in NEEDED[build.recipe] if not is_here(tool)]
    if missing:
        words = "; ".join(INSTALL[tool] for tool in missing)
        raise Problem("E054", f"{name} cannot be built without {', '.join(missing)}", do=words)


def is_here(tool: str) -> bool:
    if tool == "pip":
        return importlib.util.find_spec("pip") is not None
    return shutil.which(program(tool)) is not None


def program(tool: str) -> str:
    """CC and CXX may name others, as everywhere; words after the first are their flags."""
    configured = os.environ.get({"cc": "CC", "c++": "CXX"}.get(tool, ""), "").split()
    return configured[0] if configured else tool


def compiler() -> str:
    """The first line of what the C++ compiler says of itself, for the record."""
    try:
        said = subprocess.run(
            [program("c++"), "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (said.stdout.splitlines() or [""])[0]
