"""Lists pages of results whose experiments, or what they measure, have changed since the run.

Usage: stale_pages.py      one line for each page; it says nothing if git has no history here.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/results", "docs/experiments")

SHOWN = 5
"""Pages that a terminal shows, at most."""

RUN = re.compile(r"^Run \w+ of (\d{4}-\d\d-\d\d)", re.MULTILINE)
COMMIT = re.compile(r"Commit ([0-9a-f]{12}) of \d{4}-\d\d-\d\d")
EXPERIMENT = re.compile(r"\b([a-z]+/[a-z]\w+)\b")

MEASURED = {
    "arena": ("include/heapwise/arena.hpp", "src/arena"),
    "attacks": ("src/heap", "src/override"),
    "gc": ("include/heapwise/gc.h", "include/heapwise/gc.hpp", "src/gc"),
    "heap": ("include/heapwise/heap.hpp", "src/heap", "src/override"),
    "hybrid": ("include/heapwise/hybrid", "include/heapwise/hybrid.hpp", "src/hybrid"),
    "pool": ("include/heapwise/pool.hpp", "include/heapwise/thread", "src/pool"),
    "trees": ("include/heapwise/gc.hpp", "src/gc", "src/heap", "trees"),
}
"""Family of experiments -> the sources of ours that they measure, beside their own."""


@dataclass(frozen=True)
class StalePage:
    """``since``: the commit that was measured. ``changes``: commits since then, the newest first,
    to the sources of the page's experiments."""

    page: str
    since: str
    changes: list[str]

    def __str__(self) -> str:
        count = len(self.changes)
        commits = "1 commit" if count == 1 else f"{count} commits"
        return f"{self.page}: {commits} since {self.since}, the last is {self.changes[0]}"


def stale_pages(root: Path) -> Iterator[StalePage]:
    """Pages that say of which run they are, in the order of their names."""
    for folder in PAGES:
        for path in sorted((root / folder).rglob("*.md")):
            text = path.read_text("utf-8")
            since = _measured_commit(root, text)
            sources = _sources(root, path, text)
            if not since or not sources:
                continue
            changes = _git(root, "log", "--format=%h %s", f"{since}..HEAD", "--", *sources)
            if changes:
                yield StalePage(path.relative_to(root).as_posix(), since[:12], changes)


def _measured_commit(root: Path, text: str) -> str:
    """The one that the page names; where the page names none, or one that this history lacks, the
    last before the day of its run. Empty if the page is not made from a run."""
    run = RUN.search(text)
    if run is None:
        return ""
    named = COMMIT.search(text)
    if named and _git(root, "merge-base", named[1], "HEAD"):
        return named[1]
    before = f"--before={run[1]}T00:00:00"
    return next(iter(_git(root, "rev-list", "-1", before, "HEAD")), "")


def _sources(root: Path, path: Path, text: str) -> list[str]:
    """Files of the page's experiments, and the files and folders that they measure. A page with the
    name of an experiment is about that alone, another about all that it names."""
    own = f"{path.parent.name}/{path.stem}"
    names = [own] if _files(root, own) else dict.fromkeys(EXPERIMENT.findall(text))
    found: dict[str, None] = {}
    for name in names:
        if files := _files(root, name):
            found |= dict.fromkeys((*files, *MEASURED.get(name.partition("/")[0], ())))
    return list(found)


def _files(root: Path, experiment: str) -> list[str]:
    names = (f"experiments/{experiment}{suffix}" for suffix in (".cpp", ".toml"))
    return [name for name in names if (root / name).is_file()]


def _git(root: Path, *words: str) -> list[str]:
    """The lines that git prints; none if it fails, as it does outside a repository."""
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


def told(root: Path, file: Path) -> list[str]:
    """Writes all of them to ``file``, and returns the lines for a terminal."""
    found = [str(page) for page in stale_pages(root)]
    file.write_text("".join(f"{line}\n" for line in found), "utf-8")
    if not found:
        return []
    head = f"Stale pages: {len(found)}, made before the last change of what they show ({file})"
    return [head, *(f"  {line}" for line in found[:SHOWN])]


if __name__ == "__main__":
    for stale in stale_pages(ROOT):
        print(stale)
