"""What a gate says: a row and a sentence for each limit, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median

from heapwise.analysis.given_up_pairs import given_up_pairs
from heapwise.analysis.verdicts.rare_words import rare_share, rare_words, unseen
from heapwise.analysis.verdicts.rows import NOT_FINISHED, outcome_of
from heapwise.errors import Exit
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.fixed_time import fixed_time
from heapwise.evidence.judged_limits import OF_MALLOC, WHOLE, Judged, judge_limits, sides
from heapwise.model import (
    SIDE_BY_SIDE,
    GateOptions,
    GateResult,
    GateRow,
    GateVerdict,
    Trust,
    location_of,
)
from heapwise.stats.basics.quantiles import median_interval
from heapwise.stats.claims.limits import COUNTS, FIRST_LOOK, Decision
from heapwise.stats.claims.rare_runs import RareRuns
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.wording.lists import counted
from heapwise.wording.metrics import TIMES
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import change, compared, percent, scale_for, show
from heapwise.wording.ratios import change_ends, signed_ends

NAMES = {
    "time": "Time",
    "cpu_time": "CPU time",
    "peak_memory": "Peak memory",
    "instructions": "Instructions",
    "allocations": "Allocations",
    "allocated_bytes": "Allocated bytes",
}

PLURAL = {"instructions", *OF_MALLOC}

UNITS = {"time": "s", "cpu_time": "s", "peak_memory": "bytes", "allocated_bytes": "bytes"}
"""Those of metrics that are not numbers of something."""

OF_NOISE = {"V5", "V9"}
"""Checks of trust that say that the base differs from itself, or that ratios drift."""

BASELINE = "baseline"
"""The name of the side whose counts are in a file."""

IDENTICAL = "both builds are the same program, so nothing was measured"


def gate_answer(gate: GateResult) -> str:
    """The verdict, and the sentences of the limits that decide it."""
    deciding = [row.sentence for row in gate.rows if row.verdict == gate.verdict]
    return " ".join([f"The gate of {gate.new} against {gate.base}: {gate.verdict}.", *deciding])


def gate_result(evidence: Evidence, trust: Trust) -> GateResult | None:
    """None if the run is not a gate."""
    gate = evidence.stored.run.plan.options.gate
    if gate is None:
        return None
    base, new = sides(evidence)
    steadier = _steadier(evidence)
    fixed = next((why for setup in evidence.tried if (why := fixed_time(evidence, setup))), "")
    alone = given_up_pairs(evidence.stored)
    failed = _failed(evidence, base, new)
    rows = [
        _Wording(one, base, new, objection, gate, fixed, steadier, alone).row()
        for one in judge_limits(evidence, ended=True)
        for verdict in [one.decision.verdict]
        for objection in [_objection(trust, verdict) or ("" if verdict == "regressed" else failed)]
    ]
    run, verdict = evidence.stored.run, worst(rows)
    return GateResult(
        base,
        new,
        verdict,
        exit_code(rows, strict=gate.strict),
        rows,
        run.id,
        program=PurePath(run.plan.build_of(new).program).name,
        location=location_of(run.plan, run.plan.build_of(new), run.revision),
        layouts=run.plan.layouts,
        grown=run.grown,
    )


def _steadier(evidence: Evidence) -> float | None:
    """The noise floor of the processor time; None if it is not known, or if it is limited anyway:
    where others use the machine, it is many times as steady as the time."""
    if "cpu_time" in evidence.stored.run.plan.limits:
        return None
    floors = comparisons_of(evidence).floors
    return next((floor for cell, floor in floors.items() if cell.quantity == "cpu_time"), None)


def _failed(evidence: Evidence, base: str, new: str) -> str:
    """``new failed in 10 of 20 groups side by side: ...``: those that did their work may be those
    that are fast. "" if all of both sides did."""
    labels = [base, *evidence.controls.values()]
    for name, names in ((base, labels), (new, [new])):
        for setup in evidence.tried:
            status, words = outcome_of(evidence, setup, names)
            if status in NOT_FINISHED:
                return f"{name} {words}"
    return ""


def _objection(trust: Trust, verdict: GateVerdict) -> str:
    """The first check that failed; "" without one. What is wrong with the noise of the machine is
    no objection to a regression, which had to exceed it in two stages."""
    return next(
        (
            f"{c.id} {c.detail.rstrip('.')}"
            for c in trust.checks
            if c.verdict == "fail" and not (verdict == "regressed" and c.id in OF_NOISE)
        ),
        "",
    )


def identical_result(
    base: str, new: str, limits: dict[str, float], note: str, program: str
) -> GateResult:
    """The result for two builds that are one program. note: by what that is known. program: its
    name."""
    rows = [
        GateRow(metric, "", limit, True, "fine", f"{NAMES[metric]}: {IDENTICAL}.")
        for metric, limit in limits.items()
    ]
    return GateResult(
        base, new, "fine", int(Exit.DONE), rows, identical=True, note=note, program=program
    )


def counted_result(
    counted: Sequence[Judged], gate: GateOptions, other: str, program: str
) -> GateResult:
    """The result for counts against those of a file. other: what else is not as it was when the
    file was written; different counts then say nothing of the build."""
    rows = [
        _not_comparable(one, other)
        if other and one.decision.verdict != "fine"
        else _Wording(one, BASELINE, "new", "", gate, "").row()
        for one in counted
    ]
    code = exit_code(rows, strict=gate.strict)
    return GateResult(BASELINE, "new", worst(rows), code, rows, program=program)


def _not_comparable(one: Judged, other: str) -> GateRow:
    sentence = (
        f"{NAMES[one.metric]} cannot be told: {one.new or 0:,.0f} instead of {one.base or 0:,.0f}, "
        f"but a count can depend on more than the build: {other}. Save the baseline again."
    )
    return GateRow(
        one.metric,
        one.unit,
        one.limit,
        True,
        "cannot tell",
        sentence,
        one.base,
        one.new,
        impossible=True,
    )


def ceiling_row(
    metric: str, ceiling: float, values: Sequence[float], decision: Decision | None
) -> GateRow:
    """The row of what runs of one build needed. decision: of a metric that is not counted."""
    unit = UNITS.get(metric, "count")
    middle, limit = median(values), f"limit {show(ceiling, unit)}"
    are = "are" if metric in PLURAL else "is"
    interval = median_interval(values)
    low, high = (None, None) if decision is None else (interval.low, interval.high)
    if decision is None:
        verdict: GateVerdict = (
            "fine"
            if max(values) <= ceiling
            else "regressed"
            if min(values) > ceiling
            else "cannot tell"
        )
        exact = len({*values}) == 1
        amount = f"{middle:,.0f}" if exact else f"{min(values):,.0f} to {max(values):,.0f}"
        amount += ", exact" if exact else f" in {counted(len(values), 'run')}"
        rounds = 0
    else:
        verdict, exact, rounds = decision.verdict, False, decision.rounds
        ends = scale_for([low, high], unit)
        within = (
            "" if low is None or high is None else f" (95 % CI {ends.ends(low, high)} {ends.label})"
        )
        amount = f"{show(middle, unit)}{within} in {counted(len(values), 'run')}"
    words = {
        "fine": f"{are} fine",
        "regressed": f"{'exceed' if metric in PLURAL else 'exceeds'} the limit",
        "cannot tell": "cannot be told yet",
    }[verdict]
    return GateRow(
        metric,
        unit,
        ceiling,
        exact,
        verdict,
        f"{NAMES[metric]} {words}: {amount}, {limit}.",
        new=middle,
        low=low,
        high=high,
        rounds=rounds,
        confirmed=verdict == "regressed" and decision is not None,
        absolute=True,
    )


def ceiling_result(rows: list[GateRow], program: str, *, strict: bool) -> GateResult:
    """The result for limits of one build, without a base."""
    code = exit_code(rows, strict=strict)
    return GateResult("", "new", worst(rows), code, rows, program=program)


def exit_code(rows: list[GateRow], *, strict: bool) -> int:
    """1 for a regression. 4 if noise hides what the limit asks for, or if it can never be counted,
    and with ``strict`` for everything that cannot be told."""
    if any(row.verdict == "regressed" for row in rows):
        return int(Exit.GATE_FAILED)
    if any(
        row.too_noisy or row.impossible or (strict and row.verdict == "cannot tell") for row in rows
    ):
        return int(Exit.NOT_TRUSTWORTHY)
    return int(Exit.DONE)


def worst(rows: list[GateRow]) -> GateVerdict:
    order: tuple[GateVerdict, ...] = ("regressed", "cannot tell", "fine")
    return next(word for word in order if word == "fine" or any(r.verdict == word for r in rows))


@dataclass(frozen=True)
class _Wording:
    """One metric, in words. objection: a check of trust that failed, "" without one. fixed: why the
    program may run for a fixed time, in which a slower build does less. steadier: the noise floor
    of the processor time, if it can be proposed. alone: why no two processes ran at once."""

    judged: Judged
    base: str
    new: str
    objection: str
    gate: GateOptions
    fixed: str
    steadier: float | None = None
    alone: str = ""

    def row(self) -> GateRow:
        one, decision = self.judged, self.judged.decision
        found, timed = decision.change, self.judged.counts is None
        doubted = (timed and self.objection) or self._is_fixed
        verdict: GateVerdict = "cannot tell" if doubted else decision.verdict
        if found is not None:
            shift, low, high = (
                None if end is None else end - 1 for end in (found.ratio, found.low, found.high)
            )
        else:
            low = high = None
            shift = one.new / one.base - 1 if one.base and one.new is not None else None
        return GateRow(
            metric=one.metric,
            unit=one.unit,
            limit=one.limit,
            exact=self._is_exact,
            verdict=verdict,
            sentence=f"{self._sentence()}{self._how}.{self._why_alone(verdict)}",
            base=one.base,
            new=one.new,
            change=shift,
            low=low,
            high=high,
            noise=decision.floor,
            rounds=decision.rounds if found else 0,
            confirmed=verdict == "regressed" and timed,
            too_noisy=timed and (bool(self.objection) or decision.reason == "noise"),
            impossible=bool(self._uncountable),
            layout=decision.layout,
            rare=rare_share(decision.rare),
            quantity=one.quantity,
        )

    def _sentence(self) -> str:
        if self.judged.counts is not None:
            return self._exact(*self.judged.counts)
        decision = self.judged.decision
        if self.objection:
            return f"{self._name} cannot be told: {self.objection}"
        if self._is_fixed:
            return (
                f"{self._name} cannot be told: the program may run for a fixed time, in which a "
                f"slower build does less: {self.fixed}. Measure a fixed amount of work"
            )
        if decision.verdict == "fine" and decision.change is not None:
            return (
                f"{self._name} {self._are} fine: {_ends(decision.change)}, {self._limit}"
                f"{unseen(decision.rare)}"
            )
        if decision.reason == "rare runs" and decision.rare is not None:
            return self._rarely(decision, decision.rare)
        if decision.verdict == "regressed" and decision.change is not None:
            return (
                f"{self._name} regressed: {self._difference(decision.change)}, {self._limit}; "
                f"confirmed in {counted(decision.rounds, 'fresh round')}"
            )
        return self._untold(decision)

    def _why_alone(self, verdict: GateVerdict) -> str:
        """Pairs would have told more."""
        is_of_time = self.judged.metric in TIMES
        return f" {self.alone}" if self.alone and is_of_time and verdict == "cannot tell" else ""

    @property
    def _so_far(self) -> str:
        """The interval of a change that is not told, if there is one."""
        ratio = self.judged.decision.change
        return f"; the change so far is {_ends(ratio)}" if ratio and ratio.low else ""

    @property
    def _proposal(self) -> str:
        """The metric that this machine can tell."""
        limit = self.judged.limit
        if self.judged.metric != "time" or self._is_beside:
            return ""
        if self.steadier is None or self.steadier > limit:
            return ""
        return (
            f". CPU time differs from itself by up to {percent(self.steadier)}, so if the program "
            f"does not wait, --limit cpu_time={_limit(limit).replace(' ', '')} can tell"
        )

    @property
    def _is_fixed(self) -> bool:
        """A regression is one all the same."""
        fine = self.judged.decision.verdict == "fine"
        return bool(self.fixed) and fine and self.judged.metric in TIMES

    def _rarely(self, decision: Decision, rare: RareRuns) -> str:
        typical = f"the typical run {_ends(decision.change)}" if decision.change else ""
        found = f"{rare_words(rare, self.new, self.base)}; {typical}, {self._limit}"
        if decision.verdict == "regressed":
            return (
                f"{self._name} regressed in rare runs: {found}; confirmed in "
                f"{counted(decision.fresh or 0, 'fresh round')}"
            )
        return f"{self._name} cannot be told yet: {found}"

    def _untold(self, decision: Decision) -> str:
        found = f"{_ends(decision.change)}, " if decision.change else ""
        if decision.reason == "noise":
            floor = decision.floor
            itself = (
                "is not known to equal itself"
                if floor is None
                else (f"differs from itself by up to {percent(floor)}")
            )
            return (
                f"{self._name}: this machine cannot tell. {self.base} {itself}, and the limit "
                f"is {_limit(self.judged.limit)}{self._so_far}{self._proposal}"
            )
        if self.judged.quantity == WHOLE and self.judged.base is None:
            return (
                f"{self._name} cannot be told: the program has several processes, and ends "
                "before they can be looked at often enough. Give it more to do"
            )
        if decision.reason == "unlike peaks":
            return (
                f"{self._name} cannot be told: the program has several processes. Those that end "
                "within 50 ms are not looked at together, so one peak is that of the largest "
                "process, and another that of all. Give it more to do"
            )
        if decision.reason == "too few rounds":
            return (
                f"{self._name} cannot be told: the first look takes {FIRST_LOOK} rounds. "
                "Give more --time"
            )
        if decision.reason == "not confirmed":
            return (
                f"{self._name} cannot be told yet: a change beyond the limit was not confirmed "
                f"by {counted(decision.fresh or 0, 'fresh round')}; {found}{self._limit}"
            )
        return f"{self._name} cannot be told yet: {found}{self._limit}"

    def _exact(self, base: list[int], new: list[int]) -> str:
        if min(len(base), len(new)) < COUNTS:
            without = self.base if len(base) < COUNTS else self.new
            return (
                f"{self._name} cannot be told: they were not counted twice in {without}"
                f"{self._uncountable}"
            )
        before, after = (round(median(counts)) for counts in (base, new))
        if self.gate.uneven:
            return (
                f"{self._name} cannot be told: {after:,} instead of {before:,}, but the paths "
                f"of {self.base} and {self.new} have unequal lengths, and a count can depend "
                f"on that; {self.gate.uneven}. Put them at paths of equal length, for example "
                "base/app and head/app"
            )
        if self.judged.decision.verdict == "cannot tell":
            return f"{self._name} cannot be told: {self._uneven(base, new)}, {self._limit}"
        if before == after and self._is_exact:
            return f"{self._name} are fine: {after:,} in both builds, exact"
        word = "regressed" if self.judged.decision.verdict == "regressed" else "are fine"
        more = f"{abs(after - before):,} {'more' if after > before else 'less'}"
        if self.judged.limit and before:
            more += f" ({percent(abs(after / before - 1))})"
        how = "exact" if self._is_exact else f"although {self._uneven(base, new)}"
        return f"{self._name} {word}: {after:,} instead of {before:,}, {more}, {how}, {self._limit}"

    @property
    def _uncountable(self) -> str:
        """Why a metric cannot be counted in one of the builds."""
        if not self.gate.uncountable or self.judged.metric not in OF_MALLOC:
            return ""
        return f", and they never can be: {self.gate.uncountable}. Take this limit out"

    def _uneven(self, base: list[int], new: list[int]) -> str:
        """That runs of one build do not agree; or that too few were counted to be sure."""
        found = [
            f"runs of {name} made {min(counts):,} to {max(counts):,}"
            for name, counts in ((self.base, base), (self.new, new))
            if len({*counts}) > 1
        ]
        return (
            " and ".join(found)
            or f"{round(median(new)):,} instead of {round(median(base)):,} were not confirmed"
        )

    @property
    def _is_exact(self) -> bool:
        """Every run of a build counted the same."""
        return (
            self.judged.counts is not None
            and not self.gate.uneven
            and all(len({*c}) == 1 for c in self.judged.counts)
        )

    def _difference(self, ratio: PairedRatio) -> str:
        is_time = self.judged.metric == "time" and not self._is_beside
        more, less = ("slower", "faster") if is_time else ("more", "less")
        verb = "is" if is_time else "needs"
        low, high = ratio.low or ratio.ratio, ratio.high or ratio.ratio
        return (
            f"{self.new} {verb} {compared(change(ratio.ratio, more, less), self.base)} "
            f"(95 % CI {change_ends(ratio.ratio, low, high, less)})"
        )

    @property
    def _name(self) -> str:
        return (
            "Peak memory of all processes together"
            if self.judged.quantity == WHOLE
            else NAMES[self.judged.metric]
        )

    @property
    def _is_beside(self) -> bool:
        return self.judged.quantity == SIDE_BY_SIDE

    @property
    def _how(self) -> str:
        return f"; judged by {quantity_name(SIDE_BY_SIDE)}" if self._is_beside else ""

    @property
    def _are(self) -> str:
        return "are" if self.judged.metric in PLURAL else "is"

    @property
    def _limit(self) -> str:
        return f"limit {_limit(self.judged.limit)}"


def _ends(ratio: PairedRatio) -> str:
    return f"{signed_ends(ratio.low or ratio.ratio, ratio.high or ratio.ratio)} (95 % CI)"


def _limit(share: float) -> str:
    return f"{share * 100:g} %"
