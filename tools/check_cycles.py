"""Checks that no Python module imports itself by way of others.

Every import counts: at the top of a file, inside a function, and for types alone.

Usage: check_cycles.py [PACKAGE]     exit 0: there is no cycle; 1: the cycles are printed
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "heapwise"

Imports = dict[str, set[str]]
"""Module -> the modules of the same package that it imports."""


def imports_of(package: Path) -> Imports:
    """The imports of each module below the folder of a package."""
    files = {module_name(package, path): path for path in sorted(package.rglob("*.py"))}
    return {
        module: set(_imported(ast.parse(path.read_text(encoding="utf-8")), files)) - {module}
        for module, path in files.items()
    }


def module_name(package: Path, path: Path) -> str:
    """The name by which the file is imported."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                below = f"{node.module}.{each.name}"
                yield from [name for name in (below, node.module) if name in modules][:1]


def cycles(imports: Imports) -> list[list[str]]:
    """Groups of modules of which each imports every other, directly or by way of others."""
    reach = {module: _reachable(module, imports) for module in imports}
    groups = {
        tuple(sorted(other for other in reach[module] if module in reach[other]))
        for module in imports
        if module in reach[module]
    }
    return sorted(map(list, groups))


def _reachable(module: str, imports: Imports) -> set[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        for name in imports[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def main() -> int:
    package = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE
    imports = imports_of(package)
    found = cycles(imports)
    for group in found:
        print("import each other:", ", ".join(group))
    print(f"imports: {len(imports)} modules, {len(found)} cycles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
