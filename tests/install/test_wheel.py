"""`pip install .` gives the whole command, native parts inside, away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def clean_environment() -> dict[str, str]:
    """Nothing that could lead the installed command back to the checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEAPWISE_")}
    kept.pop("PYTHONPATH", None)
    return kept


def run(*command: str | Path, at: Path) -> str:
    """The standard output of a command that has to succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=at,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def versions(folder: Path) -> Path:
    """The locked versions without their hashes: pip would ask for a hash of the checkout too."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    path = folder / "versions.txt"
    path.write_text("\n".join(line.rstrip(" \\") for line in lines if "==" in line))
    return path


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with nothing but what `pip install .` brings."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "venv", folder / "venv", at=folder)
    pip = folder / "venv" / "bin" / "pip"
    run(pip, "install", "--quiet", f"--constraint={versions(folder)}", ROOT, at=folder)
    return folder / "venv"


def test_list_works_away_from_the_checkout(environment: Path, tmp_path: Path) -> None:
    listed = json.loads(run(environment / "bin/heapwise", "list", "--json", at=tmp_path))
    ids = {experiment["id"] for experiment in listed}
    written = {
        f"{path.parent.name}/{path.stem}"
        for path in (ROOT / "experiments").glob("*/*")
        if path.suffix in (".cpp", ".toml")
    }
    assert written
    assert ids == written
    programs = {program["name"] for experiment in listed for program in experiment["programs"]}
    assert programs == {path.parent.name for path in ROOT.glob("programs/*/program.toml")}


def test_published_reports_are_inside(environment: Path, tmp_path: Path) -> None:
    listed = run(environment / "bin/heapwise", "reproduce", "--json", at=tmp_path)
    names = {report["name"] for report in json.loads(listed)}
    assert names == {path.stem for path in ROOT.glob("published/*.toml")}


def test_peers_are_inside(environment: Path, tmp_path: Path) -> None:
    listed = run(environment / "bin/heapwise", "peers", "list", "--json", at=tmp_path)
    names = {peer["name"] for peer in json.loads(listed)}
    assert names >= {path.parent.name for path in ROOT.glob("peers/*/peer.toml")}
    words = run(environment / "bin/heapwise", "peers", "list", at=tmp_path)
    for path in ROOT.glob("trees/*/rows.toml"):
        assert f"trees/{path.parent.name} " in words


def test_our_malloc_is_inside(environment: Path, tmp_path: Path) -> None:
    where = run(environment / "bin/heapwise", "peers", "path", "heapwise", at=tmp_path).strip()
    package = next((environment / "lib").glob("python*/site-packages/heapwise"))
    assert Path(where) == package / "native" / "libheapwise-malloc.so"
    program = "import ctypes; print(ctypes.CDLL(None).heapwise_good_size(100))"
    preloaded = run("env", f"LD_PRELOAD={where}", sys.executable, "-c", program, at=tmp_path)
    assert int(preloaded) >= 100


def test_nothing_points_back(environment: Path) -> None:
    package = next((environment / "lib").glob("python*/site-packages/heapwise"))
    assert (package / "native" / "heapwise-launch").stat().st_mode & 0o111
    needle = str(ROOT).encode() + b"/python"
    pointing_back = [
        path for path in package.rglob("*") if path.is_file() and needle in path.read_bytes()
    ]
    assert pointing_back == []
