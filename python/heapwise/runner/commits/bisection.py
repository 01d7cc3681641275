"""Looks for the commit that changed a metric, in stages that are kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import msgspec

from heapwise.errors import Problem
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.judged_limits import rounds_of_layouts
from heapwise.model import SIDE_BY_SIDE, Build, Plan
from heapwise.runner.campaign.campaign import Campaign
from heapwise.runner.campaign.watcher import Watcher
from heapwise.runner.commits.exact_counts import program_of
from heapwise.runner.commits.suspects import Suspects, SuspectState, side_of
from heapwise.runner.commits.worktrees import Worktrees
from heapwise.runner.executors.program import program_executor
from heapwise.runner.plan.compare_plan import CompareRequest, prepare_compare
from heapwise.runner.process.process_status import judge
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.run_start import resume, start
from heapwise.stats.ratios.paired import STRICT_CONFIDENCE, PairedRatio
from heapwise.store import read_run
from heapwise.store.writer import write_atomically
from heapwise.wording.durations import show_limit
from heapwise.wording.lists import counted

STATE_FILE = "learned.json"
NOT_APART = "the two ends do not differ by more than the noise"
TRIAL_S = 3600.0

FINEST, COARSEST = 0.002, 0.01
"""Precision of a stage: a fifth of the change, within these."""


LONGER = 4
"""A stage may last this many times as long if it has not decided."""

LOOKS = 3
"""How often a stage is judged at most: at its time, and at twice and ``LONGER`` times as much."""

LOOK_CONFIDENCE = 1 - (1 - STRICT_CONFIDENCE) / LOOKS
"""The confidence of the interval at each look, so that all looks of a stage err together as rarely
as one strict interval (Bonferroni). Else looking again until something differs would find a
difference."""


class Ending(Watcher, Protocol):
    """A watcher that is told when nothing more comes."""

    def end(self) -> None: ...


class Learned(msgspec.Struct):
    """What earlier stages have found out. about: the question; the answer to another one says
    nothing. whole: the ratio of the bad end over the good one."""

    about: str = ""
    states: dict[str, SuspectState] = {}
    whole: float | None = None

    def about_again(self, question: str) -> Learned:
        """What still holds when this question is asked: nothing if it is another. What could not be
        built or told is tried again: a full disk, or too little time, may have been the reason."""
        if self.about != question:
            return Learned(question)
        known = ("like good", "like bad")
        states = {commit: state for commit, state in self.states.items() if state in known}
        return Learned(question, states, self.whole)


class Interrupted(Exception):
    """The user stopped it; the stages before are kept."""


@dataclass(frozen=True)
class BisectionResult:
    """culprit: "" if it cannot be told. between: the commits of which one is it, the first one
    before the change. ratio: of the last stage, the bad side over the good one. counts: before and
    after it, of a metric that is counted."""

    culprit: str
    between: list[str]
    why: str
    ratio: PairedRatio | None = None
    counts: tuple[int, int] | None = None


@dataclass
class Bisection:
    """command: the program as typed, with its arguments. metric: a quantity of ``compare``."""

    trees: Worktrees
    suspects: Suspects
    command: Sequence[str]
    metric: str
    folder: Path
    time_s: float
    watcher: Callable[[], Ending]
    say: Callable[[str], None]
    request: CompareRequest = field(default_factory=CompareRequest)

    def __post_init__(self) -> None:
        try:
            before = msgspec.json.decode((self.folder / STATE_FILE).read_bytes(), type=Learned)
        except (OSError, ValueError):
            before = Learned()
        self.learned = before.about_again(self._question())
        self.suspects.states |= self.learned.states
        self.quantity = self.metric
        """That the last measurement was judged by."""

    def _question(self) -> str:
        """Both ends, and how the programs are run; another time for it is the same question."""
        commits = self.suspects.commits
        asked = repr((commits[0], commits[-1], replace(self.request, time_s=None)))
        return hashlib.sha256(asked.encode(errors="surrogateescape")).hexdigest()

    def go(self) -> BisectionResult:
        """Problem E030 if one of the ends cannot be built or fails; Interrupted."""
        commits = self.suspects.commits
        self.trees.forget_failures()
        for end in (commits[0], commits[-1]):
            if self._program(end) is None:
                raise Problem(
                    "E030",
                    f"{self.trees.title(end)} cannot be built, or its program fails",
                    why="Both ends are needed to know what to look for.",
                    do=f"read {self.trees.log(end)}",
                )
        if self._is_same(commits[0], commits[-1]):
            return self._unknown("all files of the two ends are equal")
        while chosen := self._buildable():
            self._tell(chosen)
            if not self._stage(chosen):
                return self._unknown(NOT_APART)
        if self.learned.whole is None and not self._stage([]):
            return self._unknown(NOT_APART)
        return self._confirm()

    def _stage(self, chosen: list[str]) -> bool:
        """Measures the chosen commits between both ends. False if the ends cannot be told apart."""
        good, bad = self.suspects.commits[0], self.suspects.commits[-1]

        def is_decided(found: Evidence) -> bool:
            sides = self._sides(found, chosen).values()
            return self._whole(found) is not None and "cannot tell" not in sides

        evidence = self._measured([good, *chosen, bad], is_decided)
        if (whole := self._whole(evidence)) is None:
            return False
        self.learned.whole = whole.ratio
        for commit, state in self._sides(evidence, chosen).items():
            self._note(commit, state)
        return True

    def _whole(self, evidence: Evidence) -> PairedRatio | None:
        """The bad end over the good one; None if they cannot be told apart."""
        found = self._ratio(evidence, self.suspects.commits[-1], self.suspects.commits[0])
        return found if found is not None and self._differs(evidence, found) else None

    def _sides(self, evidence: Evidence, chosen: Sequence[str]) -> dict[str, SuspectState]:
        whole, found = self._whole(evidence), dict[str, SuspectState]()
        for commit in chosen:
            ratio = self._ratio(evidence, commit, self.suspects.commits[0])
            ends = ratio and ratio.ends(LOOK_CONFIDENCE)
            found[commit] = side_of(ends, whole.ratio) if whole and ends else "cannot tell"
        return found

    def _confirm(self) -> BisectionResult:
        """The commit against the one before it, if all between the two are decided."""
        low, high = self.suspects.ends
        before, after = self.suspects.commits[low], self.suspects.commits[high]
        if high - low > 1:
            reasons = sorted(
                {str(self.suspects.states[c]) for c in self.suspects.commits[low + 1 : high]}
            )
            return self._unknown(f"of the commits between, some are: {', '.join(reasons)}")
        return self._confirmed(before, after)

    def _confirmed(self, before: str, after: str) -> BisectionResult:
        """On fresh rounds. The commit is the culprit if its step has the direction of the whole
        change, and more than half of its size."""
        self.say(f"Confirm  {self.trees.title(after)}, against its parent")

        def differs(found: Evidence) -> bool:
            ratio = self._ratio(found, after, before)
            return ratio is not None and self._differs(found, ratio)

        def is_clear(found: Evidence) -> bool:
            nearer = self._nearer(self._ratio(found, after, before))
            return differs(found) and nearer != "cannot tell"

        evidence = self._measured([before, after], is_clear)
        ratio = self._ratio(evidence, after, before)
        if why := self._doubt(ratio, differs(evidence)):
            return self._unknown(why, ratio)
        return BisectionResult(after, [before, after], "", ratio)

    def _doubt(self, step: PairedRatio | None, differs: bool) -> str:
        """Why the last step is not the change that was looked for; "" if it is."""
        whole = self.learned.whole
        if step is None or not differs or whole is None:
            return "on fresh rounds it does not differ from its parent"
        if (step.ratio > 1) != (whole > 1):
            return "on fresh rounds it differs in the other direction"
        if self._nearer(step) != "like bad":
            return (
                "on fresh rounds it is not clear that it makes more than half of the "
                "difference between the ends"
            )
        return ""

    def _nearer(self, ratio: PairedRatio | None) -> SuspectState:
        """The end to which a ratio belongs, as that of a commit over the good end does."""
        ends = ratio and ratio.ends(LOOK_CONFIDENCE)
        whole = self.learned.whole
        return side_of(ends, whole) if ends and whole else "cannot tell"

    def _unknown(self, why: str, ratio: PairedRatio | None = None) -> BisectionResult:
        low, high = self.suspects.ends
        return BisectionResult("", self.suspects.commits[low : high + 1], why, ratio)

    def _buildable(self) -> list[str]:
        """The next commits to measure. One that cannot be built is skipped, and one with the same
        program as an end is like that end."""
        while chosen := self.suspects.next():
            left = [commit for commit in chosen if not self._decided(commit)]
            if left:
                return left
        return []

    def _decided(self, commit: str) -> bool:
        if self._program(commit) is None:
            self.say(
                f"Skip     {self.trees.title(commit)}: it cannot be built, or its program "
                f"fails ({self.trees.log(commit)})"
            )
            self._note(commit, "skipped")
            return True
        low, high = self.suspects.ends
        # The nearest first: where nothing was changed, neighbours are alike.
        for place, state in ((low, "like good"), (high, "like bad")):
            if self._is_same(self.suspects.commits[place], commit):
                self._note(commit, "like good" if state == "like good" else "like bad")
                return True
        return False

    def _program(self, commit: str) -> Path | None:
        """None if it cannot be built or does not work."""
        if self.suspects.states.get(commit) == "skipped":
            return None
        program = self.trees.built(commit)
        return program if program and self._works(program) else None

    def _works(self, program: Path) -> bool:
        """Whether it ends as it should, run once as it will be measured. Interrupted."""
        request = replace(self.request, timeout_s=self.request.timeout_s or TRIAL_S)
        command = [str(program), *self.command[1:]]
        with ScratchFolder() as folder, StopSwitch() as stop:
            trial = program_of(command, request, folder, environment=None)
            trial.work.begin()
            outcome = trial.launch(None, 0, stop, "", command)
        if outcome.interrupted:
            raise Interrupted
        return judge(outcome, None, trial.reference)[0] == "ok"

    def _is_same(self, one: str, other: str) -> bool:
        """Whether all files of both trees are equal, which needs no measurement. A program can load
        or read any of them."""
        for commit in (one, other):
            self.trees.built(commit)
        digest = self.trees.digest(one)
        return bool(digest) and digest == self.trees.digest(other)

    def _measured(self, commits: Sequence[str], enough: Callable[[Evidence], bool]) -> Evidence:
        """One plan in which the rounds of all of them are interleaved. It goes on, up to
        ``LONGER`` times as long, until there is enough to decide."""
        builds = [
            Build(_name(commit), [str(self.trees.built(commit)), *self.command[1:]])
            for commit in commits
        ]
        size = abs(self.learned.whole - 1) / 5 if self.learned.whole else COARSEST
        prepared = prepare_compare(
            replace(
                self.request,
                builds=builds,
                time_s=self.time_s,
                precision=min(COARSEST, max(FINEST, size)),
            ),
            os.environ,
        )
        # Rounds end when the first quantity is known well enough.
        first = [
            replace(
                experiment,
                quantities=sorted(
                    experiment.quantities, key=lambda quantity: quantity.name != self.metric
                ),
            )
            for experiment in prepared.experiments
        ]
        watcher = self.watcher()
        plan = prepared.plan
        plan = replace(plan, options=replace(plan.options, keeps_rows=True))
        if self.trees.layouts:
            places = {_name(commit): self.trees.place(commit) for commit in commits}
            plan = replace(plan, options=replace(plan.options, places=places))
        campaign = start(
            replace(prepared, plan=plan, experiments=first),
            self.folder / "store",
            ["heapwise", "bisect"],
            watcher,
        )
        evidence = self._conducted(campaign, watcher)
        longest = LONGER * campaign.run.plan.time_s
        while not enough(evidence) and campaign.run.plan.time_s < longest:
            watcher = self.watcher()
            campaign = resume(campaign.writer.folder, _longer, watcher, program_executor)
            evidence = self._conducted(campaign, watcher)
        return evidence

    def _conducted(self, campaign: Campaign, watcher: Ending) -> Evidence:
        try:
            run = campaign.go()
        finally:
            watcher.end()
            campaign.writer.close()
        if run.state == "interrupted":
            raise Interrupted
        evidence = Evidence(read_run(self.folder / "store", str(campaign.writer.folder)))
        beside = evidence.stored.run.plan.options.together_from is not None
        self.quantity = SIDE_BY_SIDE if beside else self.metric
        return evidence

    def _ratio(self, evidence: Evidence, above: str, below: str) -> PairedRatio | None:
        cell = next((cell for cell in evidence.table if cell.quantity == self.quantity), None)
        if cell is None or not {_name(above), _name(below)} <= evidence.table[cell].keys():
            return None
        comparisons, sides = comparisons_of(evidence), ((cell, _name(above)), (cell, _name(below)))
        if not (layouts := evidence.stored.run.plan.layouts):
            return comparisons.ratio(*sides)[0]
        pairs = comparisons.of_rounds(*sides)
        return rounds_of_layouts(pairs, layouts).ratio() if pairs.has_ratio else None

    def _differs(self, evidence: Evidence, ratio: PairedRatio) -> bool:
        """As a verdict has it: the interval of a look excludes 1, and the ratio is beyond the noise
        floor."""
        ends = ratio.ends(LOOK_CONFIDENCE)
        if ends is None:
            return False
        floor = max(
            (
                floor
                for cell, floor in comparisons_of(evidence).floors.items()
                if cell.quantity == self.quantity
            ),
            default=0.0,
        )
        return not ends[0] <= 1 <= ends[1] and max(ratio.ratio, 1 / ratio.ratio) - 1 > floor

    def _note(self, commit: str, state: SuspectState) -> None:
        self.suspects.states[commit] = self.learned.states[commit] = state
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self.folder / STATE_FILE, msgspec.json.encode(self.learned))

    def _tell(self, chosen: list[str]) -> None:
        low, high = self.suspects.ends
        stages = self.suspects.stages_left
        eta = f"at most {show_limit(stages * self.time_s)}" if self.time_s else ""
        self.say(
            f"Stage    {counted(high - low, 'commit')} left, {counted(len(chosen), 'commit')} "
            f"measured now, about {counted(stages, 'stage')} to go, {eta}"
        )


def _longer(plan: Plan) -> Plan:
    """Twice the time, intervals half as wide, and twice the rounds: builds that are told apart need
    no more of them, but their interval may be too wide to say to which end they belong."""
    return replace(
        plan,
        time_s=2 * plan.time_s,
        precision=plan.precision / 2,
        min_rounds=2 * plan.min_rounds,
    )


def _name(commit: str) -> str:
    return commit[:12]
