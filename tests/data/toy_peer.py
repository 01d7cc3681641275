"""A toy peer: sources in a crate that is a folder, a cargo that is a script, a declaration."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.catalog import Declared, read_declarations

MALLOC = """
extern void *__libc_malloc(__SIZE_TYPE__);
extern void __libc_free(void *);
void *malloc(__SIZE_TYPE__ n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
"""
BAD_MALLOC = (
    MALLOC
    + """
void *calloc(__SIZE_TYPE__ a, __SIZE_TYPE__ b) {
    char *p = malloc(a * b);
    if (p) for (__SIZE_TYPE__ i = 0; i < a * b; i++) p[i] = a * b == 512;
    return p;
}
"""
)
MAKEFILE = """
liball: toy.c
\tenv >$${TOY_ENVIRONMENT:-/dev/null}
\tmkdir -p lib
\t$(MORE)
\tcc -O1 -fPIC -fno-builtin -shared $(LDFLAGS) -o lib/libtoy.so.1 toy.c
"""
CONFIGURE = """
[ "$1" = --plain ] || exit 9
echo "MORE = ${MORE:-true}" >Makefile
echo "LDFLAGS = $LDFLAGS" >>Makefile
cat Makefile.in >>Makefile
"""


@dataclass
class Told:
    """A progress that remembers; ``stop_at`` is the step at which the user has had enough."""

    steps: list[str] = field(default_factory=list)
    ticks: list[str] = field(default_factory=list)
    stop_at: str = "never"

    def step(self, text: str) -> None:
        self.steps.append(text)
        if text == self.stop_at:
            raise KeyboardInterrupt

    def tick(self, text: str) -> None:
        self.ticks.append(text)


@dataclass(frozen=True)
class Place:
    """``crate`` holds the sources, ``peer`` the declaration, ``data`` what was added."""

    root: Path
    crate: Path
    peer: Path
    data: Path

    def declare(self, version: str = "1.0", more: str = "") -> Declared:
        (self.peer / "peer.toml").write_text(
            'title = "Toy"\nkind = "preload"\nget = "heapwise peers add toy"\nlicence = "MIT"\n'
            'environment_prefixes = ["TOY_"]\nnotes = "a toy"\n[build]\n'
            f'version = "{version}"\nrecipe = "configure"\ncrate = "toy-sys"\nsource = "toy"\n'
            'bring = { configure = "script/configure" }\noptions = ["--plain"]\n'
            f'target = "liball"\nlibrary = "lib/libtoy.so.1"\n{more}'
        )
        return next(peer for peer in read_declarations() if peer.name == "toy")

    def left(self) -> list[str]:
        """Everything below the data folder but the logs, in order."""
        base = self.data / "heapwise" / "peers"
        files = (path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file())
        return sorted(name for name in files if not name.startswith("logs/"))


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def make_place(root: Path) -> Place:
    """Lays out everything but the declaration, which ``Place.declare`` writes."""
    place = Place(root, root / "crate", root / "peers" / "toy", root / "data")
    for folder in (place.crate / "toy", place.crate / "script", place.peer, root / "tools"):
        folder.mkdir(parents=True)
    (place.crate / "toy" / "toy.c").write_text(MALLOC)
    (place.crate / "toy" / "Makefile.in").write_text(MAKEFILE)
    (place.crate / "script" / "configure").write_text(CONFIGURE)
    (place.peer / "Cargo.toml").write_text("[package]\n")
    (place.peer / "Cargo.lock").write_text("locked\n")
    package = {
        "name": "toy-sys",
        "version": "0.9.1+1.0",
        "manifest_path": str(place.crate / "Cargo.toml"),
    }
    (root / "metadata.json").write_text(json.dumps({"packages": [package]}))
    script(
        root / "tools" / "cargo",
        f"""echo "$@" >>{root}/asked
grep -q locked Cargo.lock || {{ echo "error: the lock file needs to be updated" >&2; exit 101; }}
cat {root}/metadata.json
""",
    )
    return place
