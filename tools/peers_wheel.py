"""Writes the wheel heapwise-peers: allocators built from the sources that registries have.

Usage: peers_wheel.py WORK DIST [NAME...]    only these allocators, otherwise all

`heapwise peers add` builds them below WORK and keeps what is up to date. The wheel gets into DIST
only if each library keeps the promises of malloc as it is in the wheel. Allocators whose makers
publish no sources in a registry are left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from heapwise import __version__  # noqa: E402
from heapwise.builder import buildable  # noqa: E402
from heapwise.catalog import Declared  # noqa: E402
from heapwise.catalog.added import RECORD, WHEEL_PACKAGE  # noqa: E402

METADATA = """Metadata-Version: 2.4
Name: heapwise-peers
Version: {version}
Summary: Allocators that heapwise compares, built from the sources of package registries
License-Expression: {licences}
Requires-Python: >=3.11
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: tools/peers_wheel.py
Root-Is-Purelib: false
Tag: py3-none-linux_{machine}
"""
INIT = '"""Allocators that heapwise compares. `peers.json` lists them."""\n'
EARLIEST = (1980, 1, 1, 0, 0, 0)


def main(words: list[str]) -> int:
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    work, dist = Path(words[0]).resolve(), Path(words[1]).resolve()
    peers = [
        peer
        for peer in buildable()
        if peer.declaration.build
        and peer.declaration.build.recipe != "wheel"
        and peer.name in (words[2:] or [peer.name])
    ]
    data = work / "data"
    heapwise(data, "peers", "add", *(peer.name for peer in peers))
    tree = work / "tree"
    lay_out(peers, data / "heapwise" / "peers", tree)
    plain = write_wheel(peers, tree, work / "plain")
    tagged = repair(plain, work)
    check(tagged, peers, work)
    dist.mkdir(exist_ok=True)
    for old in dist.glob(f"{WHEEL_PACKAGE}-*.whl"):
        old.unlink()
    shutil.copy(tagged, dist / tagged.name)
    print(f"{tagged.name}: {len(peers)} allocators, {tagged.stat().st_size / 1e6:.1f} MB")
    return 0


def heapwise(data: Path, *words: str, **more: str) -> None:
    """A command that has to succeed, with this folder for what users add."""
    environment = os.environ | {"XDG_DATA_HOME": str(data)} | more
    subprocess.run([sys.executable, "-m", "heapwise", *words], env=environment, check=True)


def lay_out(peers: list[Declared], added: Path, tree: Path) -> None:
    """The Python package as it is installed."""
    shutil.rmtree(tree, ignore_errors=True)
    package = tree / WHEEL_PACKAGE
    rows = []
    for peer in peers:
        assert peer.declaration.build is not None
        inside = f"{peer.name}/{peer.declaration.build.version}"
        shutil.copytree(added / inside, package / "peers" / inside)
        rows.append(row(peer, package / "peers" / inside))
        if not rows[-1]["licence_texts"]:
            raise SystemExit(f"error: the sources of {peer.name} contain no licence text")
    (package / "__init__.py").write_text(INIT)
    (package / "peers.json").write_text(json.dumps(rows, indent=2) + "\n")


def row(peer: Declared, folder: Path) -> dict[str, Any]:
    """What ``peers.json`` says of one allocator."""
    build = peer.declaration.build
    assert build is not None
    record = json.loads((folder / RECORD).read_text())
    lock = tomllib.loads((peer.path.parent / "Cargo.lock").read_text())
    crate = next(package for package in lock["package"] if package["name"] == build.crate)
    libraries = (record["library"], *build.also)
    return {
        "name": peer.name,
        "title": peer.declaration.title,
        "version": record["version"],
        "licence": peer.declaration.licence,
        "licence_texts": sorted(
            str(path.relative_to(folder.parent.parent))
            for path in (folder / "licences").rglob("*")
            if path.is_file()
        ),
        "package": record["package"],
        "package_sha256": crate["checksum"],
        "compiler": record["compiler"],
        "libraries_sha256": {name: sha256((folder / name).read_bytes()) for name in libraries},
    }


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_wheel(peers: list[Declared], tree: Path, folder: Path) -> Path:
    """The same bytes for the same tree, whatever the time."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    machine = os.uname().machine
    info = tree / f"{WHEEL_PACKAGE}-{__version__}.dist-info"
    info.mkdir()
    words = sorted({peer.declaration.licence for peer in peers})
    licences = " AND ".join(f"({word})" if " OR " in word else word for word in words)
    readme = (ROOT / "packaging" / "peers" / "README.md").read_text()
    (info / "METADATA").write_text(
        METADATA.format(version=__version__, licences=licences, readme=readme)
    )
    (info / "WHEEL").write_text(WHEEL.format(machine=machine))
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    (info / "RECORD").write_text("".join(f"{path.relative_to(tree)},,\n" for path in files))
    target = folder / f"{WHEEL_PACKAGE}-{__version__}-py3-none-linux_{machine}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in [*files, info / "RECORD"]:
            entry = zipfile.ZipInfo(str(path.relative_to(tree)), EARLIEST)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, path.read_bytes())
    return target


def repair(plain: Path, work: Path) -> Path:
    """The wheel with the tag of the systems that it runs on. auditwheel also writes the hashes of
    ``RECORD``."""
    folder = work / "tagged"
    shutil.rmtree(folder, ignore_errors=True)
    programs = Path(sys.prefix) / "bin"
    done = subprocess.run(
        [str(programs / "auditwheel"), "repair", "--wheel-dir", str(folder), str(plain)],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},  # it needs patchelf
    )
    if done.returncode:
        raise SystemExit(f"error: auditwheel failed\n{done.stdout}{done.stderr}")
    [tagged] = folder.glob("*.whl")
    return tagged


def check(wheel: Path, peers: list[Declared], work: Path) -> None:
    """Every library is the one that ``peers.json`` names, and passes ``heapwise peers check``."""
    folder = work / "checked"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    package = folder / WHEEL_PACKAGE
    for one in json.loads((package / "peers.json").read_text()):
        for name, expected in one["libraries_sha256"].items():
            library = package / "peers" / one["name"] / one["version"] / name
            if sha256(library.read_bytes()) != expected:
                raise SystemExit(f"error: auditwheel changed {library}")
    path = os.pathsep.join([str(ROOT / "python"), str(folder)])
    nothing = work / "nothing"
    heapwise(nothing, "peers", "check", *(peer.name for peer in peers), PYTHONPATH=path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
