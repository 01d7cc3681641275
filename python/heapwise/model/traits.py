"""What may be asked of the runs of each kind, so that nobody has to ask for the kind itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Traits:
    """How the runs of one kind are measured.

    whole_programs: each process is a program of the user, which knows nothing of us and is
    measured from outside; else processes measure themselves. repeated: what is done again and again
    in one run. ends_by: a number of rounds, intervals that are narrow enough, or decided limits.
    has_findings: each experiment asks a question, and its rows answer it. shown_early: a user who
    looks before the end, or stops it, sees verdicts. under_load: a generator sends requests to each
    process.
    """

    whole_programs: bool
    repeated: Literal["round", "repeat"]
    ends_by: Literal["rounds", "intervals", "limits"]
    has_findings: bool = False
    shown_early: bool = False
    under_load: bool = False


COMPARISON = Traits(whole_programs=True, repeated="round", ends_by="intervals", shown_early=True)
GATE = replace(COMPARISON, ends_by="limits")
EXPERIMENTS = Traits(whole_programs=False, repeated="repeat", ends_by="rounds", has_findings=True)
"""Also those of traces that are played."""

SERVERS = replace(EXPERIMENTS, under_load=True)
