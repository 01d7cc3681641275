"""The library under test, and every program of this folder run once for each way to compile it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from shared import once, result_once

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
    """The programs as a variant builds them; built when first asked for."""

    def built(variant: Variant) -> Path:
        name = f"programs-{file_name(variant)}"
        return once(tmp_path_factory, name, lambda place: build(variant, place))

    return cache(built)


@pytest.fixture(scope="session")
def sights(folder_of: Callable[[Variant], Path], tmp_path_factory: pytest.TempPathFactory) -> Look:
    """What the programs see under a malloc (None: the C library's), by their names."""
    written = str(tmp_path_factory.mktemp("written"))

    def see(malloc: Path | None, variant: Variant = USUAL) -> Mapping[str, Sight]:
        folder = folder_of(variant)
        wanted = [each for each in PROGRAMS if variant == USUAL or each not in SLOW]

        def look_at_all(_: Path) -> Mapping[str, Sight]:
            return {each: look(folder / each, malloc, written) for each in wanted}

        name = f"sights-{file_name(variant)}-under-{malloc.stem if malloc else 'libc'}"
        return result_once(tmp_path_factory, name, look_at_all)

    return cache(see)


def file_name(variant: Variant) -> str:
    return variant.name.replace(" ", "")
