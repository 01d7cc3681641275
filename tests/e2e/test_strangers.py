"""Files of other users above the working folder are not obeyed; the error says whose they are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import run_ids

ROOT = Path(__file__).resolve().parents[2]
STRANGER = 65534
"""uid of nobody"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can make files that belong to somebody else"
)


@pytest.fixture
def below() -> Iterator[Path]:
    """A folder of ours in a folder that everybody can write to."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o1777)
        (Path(above) / "ours").mkdir()
        yield Path(above) / "ours"


@pytest.fixture
def call(below: Path, environment: dict[str, str]) -> Callable[..., Any]:
    """Without a store that was named: it is looked for, as the settings are."""
    del environment["HEAPWISE_STORE"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "heapwise", *words],
            env=environment,
            cwd=below,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


def settings(path: Path, owner: int, mode: int = 0o644) -> Path:
    path.write_text("rounds = 7\n")
    os.chown(path, owner, owner)
    path.chmod(mode)
    return path


def flat(done: Any) -> str:
    return " ".join(done.stderr.split())


def test_settings_of_another_user_are_refused_by_name(below: Path, call: Any) -> None:
    settings(below.parent / "heapwise.toml", STRANGER)
    done = call("compare", "--dry-run", "--", "true")
    assert done.returncode == 2, done.stderr
    assert f"error E005: {below.parent}/heapwise.toml belongs to nobody" in flat(done)
    assert "heapwise.toml of your own" in flat(done)
    (below / "heapwise.toml").write_text("")
    assert call("compare", "--dry-run", "--", "true").returncode == 0


@pytest.mark.parametrize("mode", [0o646, 0o666])
def test_settings_that_others_can_write_are_refused(below: Path, call: Any, mode: int) -> None:
    file = settings(below.parent / "heapwise.toml", 0, mode)
    done = call("compare", "--dry-run", "--", "true")
    assert done.returncode == 2, done.stderr
    assert "can be changed by other users" in flat(done)
    assert f"chmod go-w {file}" in flat(done)


def test_a_link_of_another_user_is_refused_whatever_it_points_to(below: Path, call: Any) -> None:
    target = settings(below.parent / "roots.toml", 0)
    link = below.parent / "heapwise.toml"
    link.symlink_to(target)
    os.lchown(link, STRANGER, STRANGER)
    done = call("compare", "--dry-run", "--", "true")
    assert done.returncode == 2, done.stderr
    assert "belongs to nobody" in flat(done)


def test_a_link_of_ours_to_a_file_of_another_user_is_refused(below: Path, call: Any) -> None:
    target = settings(below.parent / "theirs.toml", STRANGER)
    (below / "heapwise.toml").symlink_to(target)
    assert call("compare", "--dry-run", "--", "true").returncode == 2


def test_settings_of_ours_are_used_and_named(below: Path, call: Any) -> None:
    settings(below.parent / "heapwise.toml", 0)
    done = call("compare", "--dry-run", "--", "true")
    assert done.returncode == 0, done.stderr
    assert "7 rounds" in done.stdout
    assert "Settings     from ../heapwise.toml: rounds\n" in done.stderr
    assert "Settings" not in call("list").stderr


def test_settings_of_root_hold_for_all_users(below: Path) -> None:
    """Another user, who may not write them, obeys them."""
    settings(below.parent / "heapwise.toml", 0)
    text = (
        f"import os; os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER});"
        "from heapwise.cli.frame.ask.settings import find_file; print(find_file())"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=below,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "python")},
        check=True,
    )
    assert done.stdout == f"{below.parent}/heapwise.toml\n"


def store(path: Path, owner: int = 0, mode: int = 0o755) -> Path:
    path.mkdir()
    os.chown(path, owner, owner)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("owner", "mode", "says"),
    [
        (STRANGER, 0o755, "belongs to nobody"),
        (0, 0o777, "can be changed by other users"),
    ],
)
def test_a_store_of_another_user_is_refused(
    below: Path, call: Any, owner: int, mode: int, says: str
) -> None:
    store(below.parent / ".heapwise", owner, mode)
    done = call("report", "--list")
    assert done.returncode == 2, done.stderr
    assert "error E005" in flat(done)
    assert says in flat(done)
    assert call("report", "--list", "--store", "mine").returncode == 0
    assert says in call("doctor").stdout
    store(below / ".heapwise")
    assert call("report", "--list").returncode == 0


def test_runs_that_lead_elsewhere_are_refused(below: Path, call: Any) -> None:
    ours = store(below / ".heapwise")
    theirs = store(below.parent / "theirs", STRANGER)
    (ours / "runs").symlink_to(theirs)
    done = call("compare", "--runs", "1", "--", "true")
    assert done.returncode == 2, done.stderr
    assert "error E005" in flat(done)
    assert run_ids(ours) == []
    assert list(theirs.iterdir()) == []


def test_runs_may_lead_to_a_folder_of_ours(below: Path, call: Any) -> None:
    ours = store(below / ".heapwise")
    (ours / "runs").symlink_to(store(below / "disk"))
    assert call("report", "--list").returncode == 0


def test_without_a_home_there_is_no_store_in_tmp(below: Path, environment: dict[str, str]) -> None:
    del environment["XDG_DATA_HOME"], environment["HOME"]
    environment.pop("HEAPWISE_STORE", None)
    done = subprocess.run(
        [sys.executable, "-m", "heapwise", "report", "--list"],
        env=environment,
        cwd=below,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 5, done.stderr
    assert "error E050" in done.stderr
    assert "HOME" in done.stderr
    assert "--store" in flat(done)
