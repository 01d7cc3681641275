"""The parts of a run's page that a kind of study tells."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import heapwise.study
from heapwise.document import Passage
from heapwise.evidence import Evidence
from heapwise.model import Result


@dataclass(frozen=True)
class Section:
    """order: among all parts of the page, the least comes first. tell: nothing where the run has
    nothing for this part."""

    name: str
    title: str
    order: int
    tell: Callable[[Result, Evidence], Sequence[Passage]]


def sections() -> list[Section]:
    """``SECTIONS`` of the module ``tell`` of each kind: a new one needs no other file."""
    names = [
        f"heapwise.study.{kind.name}.tell"
        for kind in pkgutil.iter_modules(heapwise.study.__path__)
        if kind.ispkg
    ]
    modules = [importlib.import_module(n) for n in names if importlib.util.find_spec(n)]
    return [section for module in modules for section in getattr(module, "SECTIONS", ())]
