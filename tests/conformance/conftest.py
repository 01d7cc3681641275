"""The library under test, and every program of this folder run once for each way to compile it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from shared import once

from conformance import subject
from conformance.build import USUAL, Variant, build
from conformance.items import PROGRAMS, SLOW
from conformance.observe import Sight, look

Look = Callable[..., Mapping[str, Sight]]


@pytest.fixture(scope="session")
def library() -> Path:
    try:
        return subject.library()
    except FileNotFoundError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Variant], Path]:
    """The programs as a variant builds them; built when first asked for. The folder is a copy of
    this process's own, because the programs write into it."""
    own = tmp_path_factory.mktemp("programs")

    def built(variant: Variant) -> Path:
        name = variant.name.replace(" ", "")
        shared = once(tmp_path_factory, f"built-{name}", lambda folder: build(variant, folder))
        return shutil.copytree(shared, own / name)

    return cache(built)


@pytest.fixture(scope="session")
def sights(folder_of: Callable[[Variant], Path]) -> Look:
    """What the programs see under a malloc (None: the C library's), by their names."""

    def see(malloc: Path | None, variant: Variant = USUAL) -> Mapping[str, Sight]:
        folder = folder_of(variant)
        wanted = [each for each in PROGRAMS if variant == USUAL or each not in SLOW]
        return {each: look(folder / each, malloc, str(folder)) for each in wanted}

    return cache(see)
