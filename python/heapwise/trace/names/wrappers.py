"""Which functions only get memory for their caller, so that a report names the caller instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.trace.names.symbols import Place

RULES = Path(__file__).with_name("wrappers.txt")

SUFFIX = re.compile(r"(\.(isra|part|constprop|cold|lto_priv)(\.\d+)?)+$| \[clone [^]]*\]")
"""What compilers append to the name of a function that they changed."""

OPERATOR_NEW = re.compile(r"operator new(\[\])?$")
CONST = re.compile(r"( (const|volatile|&|&&|noexcept))+$")

ALLOCATOR_FILE = re.compile(
    r"lib(heapwise-(malloc|recorder)|jemalloc|tcmalloc|mimalloc|snmalloc|rpmalloc|tbbmalloc|hoard"
    r"|scudo)[\w.-]*\.so[\w.-]*|libclang_rt\.scudo[\w.-]*\.so"
)
"""The libraries of allocators, and the recorder, which hands calls on. They may be stripped, so
that their functions have no names."""


class Wrappers:
    """The rules of ``wrappers.txt``, and those of the user.

    skip: regular expressions that are searched in the whole name of a function. Problem E003 if
    one is not valid.
    """

    def __init__(self, skip: Sequence[str] = ()) -> None:
        self._rules = _rules()
        try:
            self._skip = [re.compile(each) for each in skip]
        except re.error as error:
            raise Problem(
                "E003", f"--skip {error.pattern!r}: {error}", do="heapwise trace --help"
            ) from error
        self._known: dict[str, bool] = {}

    def __contains__(self, function: str) -> bool:
        """Whether the function is a wrapper. A function without a name is not."""
        if function not in self._known:
            self._known[function] = bool(function) and (
                self._rules.fullmatch(bare_name(function)) is not None
                or any(each.search(function) for each in self._skip)
            )
        return self._known[function]

    def beyond(self, places: Sequence[Place]) -> int:
        """How many of the places, the innermost first, are wrappers before the first that is not.

        Python code is the place if there is any: the interpreter and extensions work for it. The
        insides of an allocator are skipped in any case. If all other places are wrappers, or
        the first that is not has no name, the innermost of these stays.
        """
        script = next((count for count, place in enumerate(places) if place.is_script), None)
        if script is not None:
            return script
        inside = next(
            (count for count, place in enumerate(places) if not self._is_inside(place)), 0
        )
        for count, place in enumerate(places[inside:], inside):
            if place.function not in self and not self._is_inside(place):
                return count if place.function else inside
        return inside

    def _is_inside(self, place: Place) -> bool:
        """Whether it belongs to an allocator, or has no function, and the user skips its name."""
        return ALLOCATOR_FILE.fullmatch(Path(place.module).name) is not None or (
            not place.function and any(each.search(place.name) for each in self._skip)
        )


@lru_cache(maxsize=1)
def _rules() -> re.Pattern[str]:
    lines = RULES.read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(f"(?:{line})" for line in lines if line and line[0] != "#"))


def bare_name(function: str) -> str:
    """The qualified name in a demangled one.

    ``void std::vector<int>::reserve(unsigned long)`` is ``std::vector::reserve``.
    """
    kept: list[str] = []
    depth = 0
    text = SUFFIX.sub("", function)
    for place, sign in enumerate(text):
        # "<" opens arguments of a template unless it belongs to the name of an operator, a type of
        # Rust begins with it, or it follows a dot, as in "f.<locals>" of Python.
        opens = sign == "(" or (sign == "<" and place > 0 and text[place - 1] != ".")
        if opens and not "".join(kept[-8:]).endswith("operator"):
            depth += 1
        elif sign in ">)" and depth:
            depth -= 1
        elif not depth:
            kept.append(sign)
    name = CONST.sub("", "".join(kept).strip())
    if operator := OPERATOR_NEW.search(name):
        return operator.group()
    if name.startswith("<"):  # a method of Rust, with its type and its trait
        return name
    return name.rsplit(" ", 1)[-1].removeprefix("::")
