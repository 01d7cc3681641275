"""Writes the Rust crate heapwise-malloc, with the C++ sources of the heap inside.

Usage: rust_crate.py WORK DIST    the unpacked crate gets into WORK, the packed one into DIST
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "heapwise-malloc"
SOURCES = ("heap", "options", "os", "override")
"""The folders of src/ that the sources of the heap include files of."""


def main(words: list[str]) -> int:
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    work, dist = Path(words[0]).resolve(), Path(words[1]).resolve()
    crate = lay_out(work / NAME)
    # Nothing is compiled here. The network is asked only if cargo has no copy of what it needs.
    command = ["cargo", "package", "--quiet", "--allow-dirty", "--no-verify", "--exclude-lockfile"]
    command += ["--target-dir", str(work / "target")]
    offline = subprocess.run([*command, "--offline"], cwd=crate, capture_output=True)
    if offline.returncode and subprocess.run(command, cwd=crate).returncode:
        return 1
    dist.mkdir(exist_ok=True)
    for old in dist.glob(f"{NAME}-*.crate"):
        old.unlink()
    [packed] = (work / "target" / "package").glob(f"{NAME}-*.crate")
    shutil.copy(packed, dist / packed.name)
    print(f"{packed.name}: {packed.stat().st_size / 1e6:.1f} MB")
    return 0


def lay_out(crate: Path) -> Path:
    """The unpacked crate, without what an earlier call left there."""
    shutil.rmtree(crate, ignore_errors=True)
    ignored = shutil.ignore_patterns("target", "Cargo.lock", ".gitignore")
    shutil.copytree(ROOT / "packaging" / "rust", crate, ignore=ignored)
    shutil.copy(ROOT / "LICENSE", crate)
    shutil.copytree(ROOT / "include", crate / "cxx" / "include")
    for folder in SOURCES:
        shutil.copytree(ROOT / "src" / folder, crate / "cxx" / "src" / folder)
    shutil.copy(ROOT / "src" / "CMakeLists.txt", crate / "cxx" / "src")
    return crate


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
