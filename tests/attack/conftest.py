"""The attacks, built; the library that they go against; and a malloc that lets all of them pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared import once

from conformance import subject
from conformance.build import USUAL, compile_one

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def library() -> Path:
    try:
        return subject.library()
    except FileNotFoundError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ``attacks``, ``links`` and ``careless.so``."""

    def build(folder: Path) -> None:
        for name in ("attacks", "links"):
            compile_one(USUAL, HERE / f"{name}.cpp", folder / name)
        options = ("-shared", "-fPIC", "-fno-builtin")
        compile_one(USUAL, HERE / "careless.cpp", folder / "careless.so", *options)

    return once(tmp_path_factory, "attacks", build)
