"""What every test of the commands needs: the command itself, a store, native parts, fakes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from shared import shared_folder
from warm_start import WarmStart, command

ROOT = Path(__file__).resolve().parents[1]
FAKES = Path(__file__).parent / "data" / "fakes"
TIMEOUT_S = 300

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_configure(config: pytest.Config) -> None:
    """The peers that the user has added stay out: they differ from machine to machine."""
    data = tempfile.TemporaryDirectory(prefix="heapwise-data-")
    config.add_cleanup(data.cleanup)
    os.environ["XDG_DATA_HOME"] = data.name


def usual_variables() -> dict[str, str]:
    """The environment of a user without settings."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "LANG", "HEAPWISE_NATIVE", "PYTHONPATH")
        if name in os.environ
    }
    return kept | {"TERM": "dumb"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a user without settings. It has a store of its own and no peers."""
    own = {"HEAPWISE_STORE": str(tmp_path / "store"), "XDG_DATA_HOME": str(tmp_path / "data")}
    return usual_variables() | own


@pytest.fixture(scope="session")
def warm_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmStart]:
    """Starts the command without loading its modules each time. The processes of one run of pytest
    share the verbs that were started."""
    shared = shared_folder(tmp_path_factory) / "started-verbs"
    shared.mkdir(exist_ok=True)
    starter = WarmStart(usual_variables(), shared)
    yield starter
    starter.close()


@pytest.fixture
def heapwise(tmp_path: Path, environment: dict[str, str], warm_start: WarmStart) -> Heapwise:
    """Runs the command as a user types it; keyword ``env`` adds variables, and ``cwd`` is where.
    With other options of ``subprocess.run`` it is a process of its own in any case."""

    def call(
        *words: str,
        env: dict[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
        cwd: Path = tmp_path,
        **options: object,
    ) -> object:
        variables = environment | (env or {})
        if not options:
            return warm_start.run(words, variables, cwd, timeout_s)
        return subprocess.run(
            command(words),
            env=variables,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
            **options,  # type: ignore[call-overload]
        )

    return call  # type: ignore[return-value]


@pytest.fixture
def built_native() -> Path:
    """The real launcher and probes. A checkout that was not built fails here, and says so."""
    from heapwise.catalog import PROBE, native_part

    return native_part(PROBE).parent


@pytest.fixture
def fake_native(tmp_path: Path) -> Path:
    """A native folder with the real launcher and experiments that behave as they are called."""
    from heapwise.catalog import LAUNCHER, native_part

    launcher = native_part(LAUNCHER)
    family = tmp_path / "native" / "experiments" / "fake"
    family.mkdir(parents=True)
    for name in ("subjects", "single"):
        binary = family / name
        text = (FAKES / "experiment.py").read_text()
        binary.write_text(f"#!{sys.executable}\n{text}")
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "native" / LAUNCHER).symlink_to(launcher)
    return tmp_path / "native"
