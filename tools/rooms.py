"""Counts what says how the code is sorted: widest folders, cycles, untyped dictionaries and others.

Usage: rooms.py [CHECKOUT ...]     a Markdown table with a column for each checkout; without one,
that of this project
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import check_cycles
from contracts.requirements import CHECK, requirements

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ("src", "include", "bench")
PYTHON = "python/heapwise"

PRESENTATION = (
    "python/heapwise/cli/frame/**/*_t[ae][bx]*.py",
    "python/heapwise/cli/frame/**/gated.py",
    "python/heapwise/cli/frame/**/protection.py",
    "python/heapwise/cli/frame/**/reproduced.py",
    "python/heapwise/report/pages/*.py",
    "python/heapwise/report/sections/*.py",
    "python/heapwise/report/templates/**/*.html",
    "python/heapwise/report/protection.py",
    "python/heapwise/report/gate/step_summary.py",
    "python/heapwise/report/formats/markdown.py",
    "python/heapwise/study/**/tell.py",
    "python/heapwise/study/**/*_table*.py",
    "tools/*/page.py",
    "workshop/**/page.py",
)
"""The files that say a result: on a terminal, in a page or in Markdown."""

KIND = re.compile(
    r"\b(?:plan|run)\.kind\b|\boptions\.(?:server|gate|replay|reproduction)\b"
    r"|\btraits\.whole_programs\b"
)
"""A question for the kind of a run. In ``study`` and in the model it is at home."""


def folders(root: Path) -> Counter[str]:
    """Folder of the product -> how many source files lie directly in it."""
    found: Counter[str] = Counter()
    for path in _sources(root):
        found[str(path.parent.relative_to(root))] += 1
    return found


def _sources(root: Path) -> Iterator[Path]:
    for name in (*NATIVE, PYTHON):
        for path in sorted((root / name).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".h", ".py"):
                yield path


def _lines(paths: Iterator[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def presentation_lines(root: Path) -> int:
    """Lines of the files that say a result."""
    files = {path for form in PRESENTATION for path in root.glob(form)}
    return _lines(iter(files))


def _count(root: Path, suffixes: tuple[str, ...], pattern: re.Pattern[str]) -> int:
    """Matches in the sources with these suffixes."""
    return sum(
        len(pattern.findall(path.read_text(encoding="utf-8")))
        for path in _sources(root)
        if path.suffix in suffixes
    )


def questions_for_kinds(root: Path) -> int:
    """How often code outside ``study`` and the model asks for the kind of a run."""
    at_home = [root / PYTHON / name for name in ("study", "model")]
    return sum(
        len(KIND.findall(path.read_text(encoding="utf-8")))
        for path in _sources(root)
        if path.suffix == ".py" and not any(path.is_relative_to(home) for home in at_home)
    )


def checked_requirements(root: Path) -> str:
    """How many contracts of ``src`` with "Requires:" a build with checks asserts, of how many."""
    found = list(requirements(root))
    return f"{sum(each.checked for each in found)} of {len(found)}"


def figures(root: Path) -> dict[str, str]:
    """Name of a figure -> its value in a checkout."""
    widest = folders(root).most_common(3)
    imports = check_cycles.imports_of(root / PYTHON)
    return {
        "files in the widest folders": ", ".join(f"{name} {count}" for name, count in widest),
        "lines of the product": f"{_lines(_sources(root)):,}",
        "cycles of imports": str(len(check_cycles.cycles(imports))),
        "`dict[str, Any]`": str(_count(root, (".py",), re.compile(r"dict\[str, Any\]"))),
        "questions for the kind of a run": str(questions_for_kinds(root)),
        "`expects` in C++": str(_count(root, (".cpp", ".hpp", ".h"), CHECK)),
        "requirements that are checked": checked_requirements(root),
        "lines that say a result": f"{presentation_lines(root):,}",
    }


def table(roots: list[Path]) -> str:
    """A row for each figure, a column for each checkout."""
    columns = [figures(root) for root in roots]
    lines = [["figure", *(root.name for root in roots)], ["---"] * (len(roots) + 1)]
    lines += [[name, *(column[name] for column in columns)] for name in columns[0]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    print(table([Path(word).resolve() for word in sys.argv[1:]] or [ROOT]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
