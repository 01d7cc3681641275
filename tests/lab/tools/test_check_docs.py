"""The promises of the documents: each kind of broken one is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from check_docs import offences

HOLDS = """\
# Title

See [below](#the-end-is-near), [other](docs/other.md#it), `[not](a-link)`.

    [nor](this)

```cpp
int main() {}
```

## The end: is near
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/other.md").write_text("## It\n")
    (tmp_path / "README.md").write_text(HOLDS)
    (tmp_path / "Makefile").write_text("setup: ; @true\n")
    return tmp_path


@pytest.fixture
def with_library(root: Path) -> Path:
    """A tree whose library is small, so that code blocks can be linked."""
    (root / "include").mkdir()
    dev = {"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}
    builds = {"name": "dev", "configurePreset": "dev"}
    presets = {"version": 6, "configurePresets": [dev], "buildPresets": [builds]}
    (root / "CMakePresets.json").write_text(json.dumps(presets))
    (root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(toy CXX)\n"
        "set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/src)\n"
        "add_library(heapwise_static STATIC toy.cpp)\n"
        "set_target_properties(heapwise_static PROPERTIES OUTPUT_NAME heapwise)\n"
        "add_library(heapwise_gc_static STATIC toy.cpp)\n"
        "set_target_properties(heapwise_gc_static PROPERTIES OUTPUT_NAME heapwise-gc)\n"
    )
    (root / "toy.cpp").write_text("int toy() { return 7; }\n")
    return root


def broken(root: Path, text: str, name: str = "README.md") -> list[str]:
    (root / name).write_text(text)
    return list(offences(root))


def test_kept_promises(with_library: Path) -> None:
    assert list(offences(with_library)) == []


def joined(*pieces: str) -> str:
    """Keeps what is forbidden out of this very file."""
    return "".join(pieces)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [it](docs/gone.md)\n", "docs/gone.md does not exist"),
        ("![picture](docs/gone.svg)\n", "docs/gone.svg does not exist"),
        ("# A\n\n[b](#b)\n", "README.md has no heading #b"),
        ("[it](docs/other.md#that)\n", "docs/other.md has no heading #that"),
        (joined("pip install from http", "://mirror.internal/simple\n"), "names the host"),
        (joined("run it in /ro", "ot/heapwise\n"), "names the path"),
        (joined("RESULT", "-HERE\n"), "still waits for a result"),
        ("```sh\nmake setup\nmake coffee\n```\n", "make has no target coffee"),
        ("1. do\n\n   ```sh\n   make tea\n   ```\n", "make has no target tea"),
        ("```cpp\nint main() { return 3; }\n```\n", "ends with 3"),
        ("```cpp\nint main() { return no; }\n```\n", "does not compile"),
        ("```c\nint main(void) { // too new?\n int x; return 0; }\n```\n", "does not compile"),
        ("```cpp\nint toys();\nint main() { return toys(); }\n```\n", "does not compile"),
    ],
)
def test_a_broken_promise_is_found(with_library: Path, text: str, expected: str) -> None:
    found = broken(with_library, text)
    assert len(found) == 1
    assert expected in found[0]


def test_a_published_report_may_say_where_it_is_read(root: Path) -> None:
    (root / "published").mkdir()
    link = joined("http", "s://papers.internal/one")
    (root / "published" / "one.toml").write_text(f'link = "{link}"\n')
    (root / "published" / "two.toml").write_text(f'origin = "{link}"\n')
    assert broken(root, "# Title\n") == ["published/two.toml:1: names the host papers.internal"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (".venv/bin/heapwise fly", "heapwise has no verb fly"),
        ("heapwise run --wings x", "heapwise run has no option --wings"),
    ],
)
def test_a_command_that_does_not_exist(root: Path, line: str, expected: str) -> None:
    command = root / ".venv/bin/heapwise"
    command.parent.mkdir(parents=True)
    command.write_text('#!/bin/sh\n[ "$1" = run ] && echo "--seed N"\n')
    command.chmod(0o755)
    assert broken(root, f"```sh\nheapwise run --seed 3 -- ./a --wings\n{line}\n```\n") == [
        f"README.md:1: {expected}"
    ]
    assert broken(root, f"```console\n$ {line}\nheapwise says so\n```\n") == [
        f"README.md:1: {expected}"
    ]


def test_without_git_what_was_built_is_left_out(root: Path) -> None:
    """A folder that was unpacked from an archive, after its tests ran."""
    (root / ".pytest_cache").mkdir()
    (root / "build" / "dev").mkdir(parents=True)
    link = "[gone](gone.md)\n"
    (root / ".pytest_cache" / "README.md").write_text(link)
    (root / "build" / "dev" / "README.md").write_text(link)
    (root / "docs" / "build.md").write_text(link)
    (root / "README.md").write_text("# Title\n")
    assert list(offences(root)) == ["docs/build.md:1: gone.md does not exist"]


def test_lock_files_are_as_their_tools_write_them(with_library: Path) -> None:
    text = joined('source = "https:', '//registry.of-somebody.io/index"\n')
    assert broken(with_library, text, "docs/Cargo.lock") == []
    assert len(broken(with_library, text, "docs/Cargo.toml")) == 1
