"""Sources out of a registry, checked against the lock file that lies beside the declaration."""

from __future__ import annotations

import platform
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from heapwise.builder.workshop import Workshop
from heapwise.catalog import PeerBuild

LOCKS = {"configure": "Cargo.lock", "cmake": "Cargo.lock", "wheel": "requirements.lock"}


@dataclass(frozen=True)
class Fetched:
    """``package`` says in words what ``folder`` holds."""

    folder: Path
    package: str


def fetch_crate(build: PeerBuild, declared: Path, shop: Workshop) -> Fetched:
    """The unpacked crate, where cargo keeps it: to be read and never written.

    cargo itself compares the checksum with ``Cargo.lock`` and refuses any other version.
    """
    project = shop.folder / "crate"
    project.mkdir()
    for name in ("Cargo.toml", LOCKS[build.recipe]):
        shutil.copy(declared / name, project / name)
    answer = shop.output(
        f"fetching the crate {build.crate}",
        [
            "cargo",
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            f"{platform.machine()}-unknown-linux-gnu",
        ],
        project,
    )
    try:
        packages = msgspec.json.decode(answer)["packages"]
        found = next(package for package in packages if package["name"] == build.crate)
        folder, version = Path(found["manifest_path"]).parent, str(found["version"])
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise shop.failed(f"cargo does not say where {build.crate} is") from error
    return Fetched(folder, f"crate {build.crate} {version.partition('+')[0]}")


def fetch_wheel(build: PeerBuild, declared: Path, shop: Workshop) -> Fetched:
    """All wheels of the lock file, unpacked into one folder. pip compares the hashes."""
    wheels, unpacked = shop.folder / "wheels", shop.folder / "unpacked"
    shop.run(
        f"fetching the wheel {build.wheel}",
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--disable-pip-version-check",
            "--progress-bar",
            "off",
            "--dest",
            str(wheels),
            "--requirement",
            str(declared / LOCKS["wheel"]),
        ],
        shop.folder,
    )
    name = ""
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as file:
            file.extractall(unpacked)
        if wheel.name.startswith(f"{build.wheel}-"):
            name = wheel.name
    if not name:
        raise shop.failed(f"pip brought no wheel {build.wheel}")
    return Fetched(unpacked, f"wheel {build.wheel} {name.split('-')[1]}")
