"""``--fleet WHERE,machines=4,stall=2h``: where a plan is measured, and with which settings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heapwise.errors import Problem
from heapwise.fleet.job import STALL_S
from heapwise.wording.durations import parse_duration

SETTING = re.compile(r",(machines|stall)=([^,/]*)$")


@dataclass(frozen=True)
class FleetTarget:
    """where: a file of hosts, or ``dask:``, ``slurm:``, ``k8s:`` and what follows them. machines:
    how many slurm or k8s is asked for. stall_s: a process that has stored no sample for this long
    is killed."""

    where: str
    machines: int = 1
    stall_s: float = STALL_S

    @staticmethod
    def parse(text: str) -> FleetTarget:
        """Problem E003 for a value that is not a number of machines or a duration. Other words
        with a comma before them belong to the name of the place."""
        where, typed = text, dict[str, str]()
        while match := SETTING.search(where):
            where = where[: match.start()]
            typed.setdefault(match[1], match[2])
        machines = typed.get("machines", "1")
        if not machines.isdecimal() or int(machines) == 0:
            raise Problem(
                "E003",
                f"--fleet {text}: machines={machines} is not a number above 0",
                do=f"--fleet {where},machines=4",
            )
        stall_s = parse_duration(typed["stall"], "stall") if "stall" in typed else STALL_S
        return FleetTarget(where, int(machines), stall_s)
