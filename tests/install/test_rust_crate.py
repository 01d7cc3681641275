"""The packed Rust crate is built without CMake, and programs get their memory from it."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "how-to" / "use-the-heap.md"
MOST_PROCESSOR_S = 15

pytestmark = pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")


def cargo(*words: str | Path, at: Path) -> str:
    """What a command of cargo prints, which has to succeed. No CMake is there, no network."""
    done = subprocess.run(
        ["cargo", *map(str, words), "--offline"],
        cwd=at,
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | {"CARGO_TARGET_DIR": str(at / "target"), "CMAKE": "/bin/false"},
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr[-5000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cargo has what the crate depends on. An empty crate asks for it, in which nothing of ours can
    be wrong."""
    folder = tmp_path_factory.mktemp("registry")
    manifest = (ROOT / "packaging/rust/Cargo.toml").read_text(encoding="utf-8")
    needed = re.search(r"^\[build-dependencies\]\n.*?\n\n", manifest, re.DOTALL | re.MULTILINE)
    assert needed
    (folder / "src").mkdir()
    (folder / "src/lib.rs").touch()
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "empty"\nversion = "0.1.0"\n{needed[0]}[workspace]\n'
    )
    for offline in (["--offline"], []):
        command = ["cargo", "fetch", *offline]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode == 0:
            return
    pytest.skip(
        f"cargo cannot get what the crate depends on: {done.stderr.splitlines()[-1].strip()}"
    )


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory, registry: None) -> Path:
    """What `tools/package` puts into dist/, unpacked."""
    folder = tmp_path_factory.mktemp("crate")
    command = [sys.executable, ROOT / "tools" / "rust_crate.py", folder / "work", folder / "dist"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [packed] = (folder / "dist").iterdir()
    with tarfile.open(packed) as file:
        file.extractall(folder / "unpacked")
    [unpacked] = (folder / "unpacked").iterdir()
    shutil.rmtree(folder / "work")
    return unpacked


def test_the_crate_builds_in_few_seconds_and_passes_its_own_tests(crate: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cargo("build", at=crate)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < MOST_PROCESSOR_S
    assert "5 passed" in cargo("test", at=crate)


@pytest.mark.long
@pytest.mark.parametrize("profile", ["fast", "guarded", "hardened"])
def test_a_feature_chooses_the_profile(crate: Path, profile: str) -> None:
    assert "5 passed" in cargo("test", "--features", profile, at=crate)


def test_a_target_with_musl_is_refused_with_the_reason(crate: Path) -> None:
    target = "x86_64-unknown-linux-musl"
    done = subprocess.run(
        ["cargo", "build", "--target", target, "--offline"],
        cwd=crate,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "heapwise-malloc needs Linux with glibc" in done.stderr


def test_the_program_of_the_guide_runs_with_the_crate_as_a_dependency(
    crate: Path, tmp_path: Path
) -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## Rust\n")[2].partition("\n## ")[0]
    manifest = re.search(r"```toml\n(.*?)```", section, re.DOTALL)
    program = re.search(r"```rust\n(.*?)```", section, re.DOTALL)
    assert manifest
    assert program
    place = re.search(r'path = "([^"]+)"', manifest[1])
    assert place
    assert (ROOT.parent / place[1].partition("/")[2]).name == "rust"
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text(program[1])
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "words"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
        + manifest[1].replace(place[1], str(crate))
    )
    assert cargo("run", "--quiet", "--release", at=tmp_path) == "100000\n"
    symbols = subprocess.run(
        ["nm", tmp_path / "target/release/words"], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r" [tT] heapwise_malloc$", symbols, re.MULTILINE)
