"""All checks of a run, and the one verdict that a person reads first."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Literal

from heapwise.evidence import Evidence
from heapwise.model import Check, Trust

Overall = Literal["good", "limited", "not trustworthy"]

NUMBERED = re.compile(r"v\d\d_\w+")
"""How the module of a check is called."""

ESSENTIAL = {"V5", "V8"}
"""Without a noise floor and the same work no figure is proven, so their being unavailable limits
the trust; of any other check it is only said. V1 joins them where a subject is a library."""


def check_modules() -> list[ModuleType]:
    """The files of the rooms that begin with v and a digit, in the order of their numbers."""
    names = [
        module.name
        for module in pkgutil.walk_packages([str(Path(__file__).parent)], "heapwise.trust.")
        if NUMBERED.fullmatch(_last_part(module.name))
    ]
    return [importlib.import_module(name) for name in sorted(names, key=_last_part)]


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def check_run(evidence: Evidence) -> Trust:
    checks: list[Check] = [module.check(evidence) for module in check_modules()]
    libraries = any(subject.peer for subject in evidence.subjects.values())
    essential = ESSENTIAL | {"V1"} if libraries else ESSENTIAL
    verified = any(check.id == "V25" and check.verdict == "pass" for check in checks)
    return Trust(overall(checks, essential), checks, verified)


def overall(checks: list[Check], essential: set[str]) -> Overall:
    """``not trustworthy`` by any fail; ``limited`` by any warn or an essential check missing."""
    if any(check.verdict == "fail" for check in checks):
        return "not trustworthy"
    for check in checks:
        if check.verdict == "warn" or (check.verdict == "unavailable" and check.id in essential):
            return "limited"
    return "good"
