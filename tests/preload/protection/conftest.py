"""The profiles that check every call, preloaded: they end a program with a planted fault, and say
what it was."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DENY = Path(__file__).parents[1] / "faults" / "deny.c"
PROFILES = ["guarded", "hardened"]


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest, profile_named: Callable[[str], Any]) -> Any:
    """Each profile that checks every call."""
    return profile_named(request.param)


@pytest.fixture
def hardened(profile_named: Callable[[str], Any]) -> Any:
    """The profile that finds most."""
    return profile_named("hardened")


@pytest.fixture(params=["marks", "protection"])
def hiding(request: pytest.FixtureRequest, host: Any, compiled: Any) -> Callable[..., Any]:
    """Runs a program with a profile where pages are hidden as the kernel can since Linux 6.13, and
    as those before it can."""

    def run(profile: Any, *command: str | Path, **more: str) -> Any:
        if request.param == "marks":
            return profile.run(*command, **more)
        variables = [f"{name}={value}" for name, value in more.items()]
        return host.run(
            compiled(DENY),
            errno.EINVAL,
            "marks",
            "--",
            "/usr/bin/env",
            f"LD_PRELOAD={profile.library}",
            *variables,
            *command,
        )

    return run
