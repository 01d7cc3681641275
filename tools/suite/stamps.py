"""Which parts passed, and with which inputs: a part that has not changed since is not run again.

The inputs of a part are its command, the files of the tree, the Debian packages and the machine.
A stamp is written after a part has passed, and removed before it runs: after a failure, or in a
fresh clone, there is none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from suite.part import Part, show
from suite.tally import Tally

NOT_OF_THE_TREE = {"build", "dist", ".git", ".venv", ".heapwise", ".hypothesis"}
"""What is made from the tree, at its root."""

VARIABLES = ("PATH", "HOME", "CC", "CXX", "GLIBC_TUNABLES", "LANG")
PREFIXES = ("HEAPWISE_", "CMAKE_", "PYTEST_", "HYPOTHESIS_", "LD_", "LC_", "MALLOC_")
SUFFIXES = ("FLAGS", "SAN_OPTIONS")

PACKAGES = Path("/var/lib/dpkg/status")


def files_of(root: Path) -> Iterator[str]:
    """The files of the tree, sorted, as paths from its root."""
    for folder, folders, names in os.walk(root):
        place = Path(folder)
        ours = [name for name in folders if name != "__pycache__" and not name.endswith("_cache")]
        if place == root:
            ours = [name for name in ours if name not in NOT_OF_THE_TREE]
            names = [name for name in names if name not in NOT_OF_THE_TREE]
        folders[:] = sorted(ours)
        yield from (str((place / name).relative_to(root)) for name in sorted(names))


def digest(path: Path) -> str:
    """A hash of what the file holds, and of its permissions; "" if there is no such file."""
    try:
        mode = path.stat().st_mode
        return f"{mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError:
        return ""


def surroundings() -> list[str]:
    """What results can depend on and is not in the tree."""
    machine = os.uname()
    return [
        f"{machine.release} {machine.version} {machine.machine} {os.cpu_count()}",
        digest(PACKAGES),
        *sorted(
            f"{name}={value}"
            for name, value in os.environ.items()
            if name in VARIABLES or name.startswith(PREFIXES) or name.endswith(SUFFIXES)
        ),
    ]


def fingerprint(part: Part, root: Path) -> str:
    """One hash over all inputs of the part."""
    unrelated = tuple(f"{path}/" for path in part.unrelated)
    related = (name for name in files_of(root) if not f"{name}/".startswith(unrelated))
    contents = [f"{name} {digest(root / name)}" for name in related]
    inputs = [part.command, part.environment, surroundings(), contents]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


@dataclass(frozen=True)
class Stamps:
    """The stamps of all parts, in ``folder``."""

    folder: Path

    def _file(self, part: Part) -> Path:
        return self.folder / f"{part.file_name}.passed"

    def find(self, part: Part, inputs: str) -> Tally | None:
        """The results of the part with these inputs, if it passed with them when it last ran."""
        try:
            stamp = json.loads(self._file(part).read_text())
            if stamp["inputs"] != inputs:
                return None
            return Tally(stamp["passed"], stamp["skipped"], unchanged=stamp["passed"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self, part: Part) -> None:
        """Forgets the part."""
        self._file(part).unlink(missing_ok=True)

    def write(self, part: Part, inputs: str, tally: Tally) -> None:
        """Remembers that the part passed with these inputs."""
        stamp = {"inputs": inputs, "passed": tally.passed, "skipped": tally.skipped}
        self._file(part).write_text(json.dumps(stamp))


def run_changed(
    part: Part, root: Path, stamps: Stamps, run: Callable[[Part], Tally], *, anyway: bool
) -> Tally:
    """Runs a part unless it passed with the same inputs.

    anyway: run it even so. A part that prepares something for others always runs.
    """
    inputs = fingerprint(part, root)
    if not (anyway or part.prepares):
        earlier = stamps.find(part, inputs)
        if earlier:
            show(f"==> {part.name}: {earlier.closing_line()}")
            return earlier
    stamps.remove(part)
    tally = run(part)
    # Files that were changed while it ran may have been read before or after.
    if not tally.failed and fingerprint(part, root) == inputs:
        stamps.write(part, inputs, tally)
    return tally
