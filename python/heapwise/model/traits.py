"""What may be asked of the runs of each kind, so that nobody has to ask for the kind itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Traits:
    """How the runs of one kind are measured.

    whole_programs: each process is a program of the user, which knows nothing of us and is
    measured from outside; else processes measure themselves. repeated: what is done again and again
    in one run. ends_by: a number of rounds, intervals that are narrow enough, or decided limits.
    """

    whole_programs: bool
    repeated: Literal["round", "repeat"]
    ends_by: Literal["rounds", "intervals", "limits"]


COMPARISON = Traits(whole_programs=True, repeated="round", ends_by="intervals")
GATE = Traits(whole_programs=True, repeated="round", ends_by="limits")
EXPERIMENTS = Traits(whole_programs=False, repeated="repeat", ends_by="rounds")
"""Also those of servers and of traces that are played."""
