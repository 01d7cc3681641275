"""What a measuring process of a fleet is told of the fleet run that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.model import FleetOrigin

ORIGIN_VARIABLE = "HEAPWISE_FLEET_ORIGIN"
"""Names a file with a ``FleetOrigin`` as JSON. Measured processes never get the variable."""


def read_origin(environment: Mapping[str, str]) -> FleetOrigin | None:
    """None outside a fleet. Problem E003 if the file cannot be read."""
    path = environment.get(ORIGIN_VARIABLE)
    if not path:
        return None
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=FleetOrigin)
    except (OSError, msgspec.MsgspecError) as error:
        raise Problem(
            "E003",
            f"{ORIGIN_VARIABLE} names {path}: {error}",
            do="leave it out: only heapwise sets it, for the machines of a fleet",
        ) from error


def run_id_of(origin: FleetOrigin) -> str:
    """The same whenever the machine begins again, so that a plan that is started twice is one."""
    return f"{origin.fleet}-{origin.machine}"
