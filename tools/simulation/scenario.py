"""What is simulated, and what is promised of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulation.noise import Shape

Loser = Literal["nobody", "subject", "baseline", "control"]


@dataclass(frozen=True)
class Campaign:
    """The truth behind one random campaign. Deviations and effects are relative: 0.01 is 1 %.

    deviation: standard deviation of one process of one side, on the log scale. within: of the
    repeats of one process. effects: how much larger the true number of each subject is than the
    baseline's, one for each subject; lower numbers are better. correlation: of a round with the
    one before it. loser: whose sample of one round the filter takes out. limit: of a gate, how much
    more time it allows; then there are at most ``rounds`` rounds. advises: the subjects are
    candidates of ``heapwise advise``. compares: it is a run of ``heapwise compare``. drifts: as
    ``correlation``, of the first subject alone. after: how much longer a process takes after one of
    the first subject. days: the deviation of each subject's ratio from day to day, of two days.
    scatter: how many times the deviation of the others the first subject has. states: the deviation
    of a state that each label has for a whole run, the control too. earlier: runs of the same
    machine, by which the run is calibrated. rare: the share of runs that take twice as long, of the
    first subject and of the baseline.
    """

    rounds: int
    effects: tuple[float, ...] = (0.0,)
    shape: Shape = "normal"
    deviation: float = 0.01
    correlation: float = 0.0
    loser: Loser = "nobody"
    repeats: int = 1
    within: float = 0.0
    limit: float | None = None
    advises: bool = False
    compares: bool = False
    drifts: float = 0.0
    after: float = 0.0
    days: float = 0.0
    scatter: float = 1.0
    states: float = 0.0
    earlier: int = 0
    rare: tuple[float, float] = (0.0, 0.0)


Question = Literal[
    "different",
    "decided",
    "covered",
    "found",
    "found as printed",
    "lead exceeds",
    "race finds",
    "race differs",
    "gate fails",
    "gate finds",
    "advised in vain",
    "advised first",
]


@dataclass(frozen=True)
class Promise:
    """For ``campaign``, the answer to ``question`` is yes in a share between ``low`` and ``high``.

    different: a row is called better or worse. decided: a row has any verdict but "cannot tell".
    covered: the ratio's interval holds the true ratio. found: a row is called as it is, better or
    worse. found as printed: the same, of the difference that another campaign printed as the one
    that would be found. lead exceeds: the advice tells a larger lead of the best subject than it
    has. race finds: the first subject is called as it is, by a comparison that looks as it goes and
    ends with the processes of ``rounds`` whole rounds. race differs: such a comparison calls a
    subject without an effect different. gate fails: the gate calls its metric regressed. gate
    finds: the same, of a change of the limit and twice the noise floor that a gate of identical
    builds printed. advised in vain: the advice claims a gain for a candidate that has none; one
    answer for all candidates of a run. advised first: the advice names the candidate that gains
    most before all others.

    times: of a rare event, how many times as many campaigns are drawn.
    """

    campaign: Campaign
    question: Question
    low: float = 0.0
    high: float = 1.0
    times: int = 1
