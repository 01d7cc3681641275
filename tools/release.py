"""Sets the version of the project in every place that has it, and compares the places.

Usage: release.py --check              exit 0: the places agree; 1: those that differ are printed
       release.py --dry-run VERSION    prints what releasing this version would change
       release.py VERSION              changes it
"""

from __future__ import annotations

import datetime
import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
UNRELEASED = "## Unreleased"
NAMESPACE = re.compile(r"\binline v(\d+_\d+)\b")


@dataclass(frozen=True)
class Place:
    """A line of a file that has the version. ``pattern`` has one group: the version, or its first
    ``numbers`` numbers."""

    path: str
    pattern: str
    numbers: int = 3

    def shown(self, version: str) -> str:
        """How this place writes the version."""
        return ".".join(version.split(".")[: self.numbers])

    def version(self, root: Path) -> str:
        """``""`` if there is no such line."""
        found = re.search(self.pattern, (root / self.path).read_text(), re.MULTILINE)
        return found[1] if found else ""

    def changed(self, text: str, version: str) -> str:
        def replace(match: re.Match[str]) -> str:
            return match[0].replace(match[1], self.shown(version))

        return re.sub(self.pattern, replace, text, count=1, flags=re.MULTILINE)


PLACES = (
    Place("CMakeLists.txt", r"^project\(\s*heapwise\s+VERSION ([\d.]+)$"),
    Place("pyproject.toml", r'^version = "([\d.]+)"$'),
    Place("packaging/rust/Cargo.toml", r'^version = "([\d.]+)"$'),
    Place("python/heapwise/__init__.py", r'^__version__ = "([\d.]+)"$'),
    Place("docs/how-to/install.md", r"`heapwise/([\d.]+)`"),
    Place("docs/how-to/install.md", r"^find_package\(heapwise ([\d.]+) REQUIRED\)$", 2),
    Place(
        "tests/install/consumer/CMakeLists.txt", r"^find_package\(heapwise ([\d.]+) REQUIRED\)$", 2
    ),
)


def namespace_of(version: str) -> str:
    """``v0_1`` of 0.1.7: all patches of a minor version have one layout."""
    return "v" + "_".join(version.split(".")[:2])


def headers(root: Path) -> Iterator[Path]:
    """All files that may name the inline namespace."""
    for folder in ("include", "src", "tests", "docs"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".hpp", ".h", ".cpp", ".md"):
                yield path


def disagreements(root: Path) -> Iterator[str]:
    """Every place whose version is not that of the first one, and a change log without a section
    for what comes."""
    wanted = PLACES[0].version(root)
    for place in PLACES:
        if (found := place.version(root)) != place.shown(wanted):
            yield f"{place.path}: version {found or 'missing'}, {PLACES[0].path} has {wanted}"
    for path in headers(root):
        for name in set(NAMESPACE.findall(path.read_text(errors="replace"))):
            if f"v{name}" != namespace_of(wanted):
                yield f"{path.relative_to(root)}: v{name}, expected {namespace_of(wanted)}"
    log = (root / "CHANGELOG.md").read_text()
    if UNRELEASED not in log and f"## {wanted}" not in log:
        yield f"CHANGELOG.md: there is neither '{UNRELEASED}' nor '## {wanted}'"


def changes(root: Path, version: str, day: datetime.date) -> dict[Path, str]:
    """File -> its new text."""
    old = PLACES[0].version(root)
    found: dict[Path, str] = {}
    for place in PLACES:
        path = root / place.path
        found[path] = place.changed(found.get(path) or path.read_text(), version)
    log = root / "CHANGELOG.md"
    found[log] = log.read_text().replace(UNRELEASED, f"{UNRELEASED}\n\n## {version}, {day}", 1)
    before, after = namespace_of(old), namespace_of(version)
    if before != after:
        for path in headers(root):
            text = found.get(path) or path.read_text(errors="surrogateescape")
            found[path] = re.sub(rf"\binline {before}\b", f"inline {after}", text)
    return {
        path: text
        for path, text in found.items()
        if text != path.read_text(errors="surrogateescape")
    }


def show(root: Path, changed: dict[Path, str]) -> None:
    for path, text in changed.items():
        name = str(path.relative_to(root))
        before = path.read_text(errors="surrogateescape").splitlines(keepends=True)
        sys.stdout.writelines(
            difflib.unified_diff(before, text.splitlines(keepends=True), name, name, n=0)
        )


def main(words: list[str], root: Path = ROOT) -> int:
    if words == ["--check"]:
        found = list(disagreements(root))
        print(*found, f"version {PLACES[0].version(root)}: {len(found)} disagreements", sep="\n")
        return 1 if found else 0
    version = words[-1] if words else ""
    if not VERSION.fullmatch(version) or words[:-1] not in ([], ["--dry-run"]):
        print(__doc__, file=sys.stderr)
        return 2
    changed = changes(root, version, datetime.datetime.now(datetime.UTC).date())
    if len(words) == 2:
        show(root, changed)
        return 0
    for path, text in changed.items():
        path.write_text(text, errors="surrogateescape")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
