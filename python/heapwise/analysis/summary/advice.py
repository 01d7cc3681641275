"""One sentence of advice. No subject has a special place in it, ours neither."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log
from statistics import fmean

from heapwise.analysis.given_up_pairs import given_up_pairs
from heapwise.analysis.summary.mixed_mallocs import mixed_mallocs
from heapwise.analysis.summary.second_opinion import second_opinion
from heapwise.analysis.summary.server_advice import is_of_servers, server_advice
from heapwise.analysis.summary.speed import speed_quantity
from heapwise.analysis.summary.tree_headlines import (
    GROUPS,
    group_place,
    has_curves,
    known_group,
    leaders,
)
from heapwise.analysis.verdicts.lead import lead
from heapwise.analysis.verdicts.rare_words import rare_of, rare_words, value_words
from heapwise.analysis.verdicts.rows import outcome_of, ranked
from heapwise.analysis.verdicts.standing import alone, are_many_questions, standings
from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence, calls_of, comparisons_of, ranking_of
from heapwise.evidence.endings import other_ending
from heapwise.evidence.fixed_time import fixed_time
from heapwise.evidence.kept import written_elsewhere
from heapwise.evidence.shared_names import NOBODY_LOOKED, shared_names
from heapwise.evidence.under_load import ends_alone
from heapwise.model import SIDE_BY_SIDE, Cell, Row, Trust
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.store import StoredRun
from heapwise.trust.surroundings.v13_neighbour import PRESSURE_SHARE
from heapwise.wording.durations import longer_duration
from heapwise.wording.lists import counted, listed
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import change, percent, significant, size, times
from heapwise.wording.ratios import interval, relation, signed_ends, with_interval

NOTHING = "Nothing to compare: only one subject was measured."
UNSURE, FASTER, SMALLER = "Cannot tell yet", "is faster than", "needs less memory than"

DEEDS = {
    "made": "writes",
    "written": "writes",
    "replaced": "replaces",
    "removed": "removes",
    "bound": "listens at",
    "connected": "connects to",
    "locked": "locks",
}
"""What a program does with a name that two of it would share; else it uses it."""

NAMED = 3
"""Subjects that the sentence names; a list of ten is not advice."""


def advise(evidence: Evidence, rows: list[Row], trust: Trust) -> str:
    if refused := refusal(trust):
        return refused
    usable = list(ranked(evidence, rows))
    if not any(row.n for row in rows):
        return "No advice: nothing was measured to the end."
    if evidence.stored.run.plan.traits.whole_programs:
        told = f"{busy_words(evidence, rows, trust)}{_cells(evidence, rows, usable)}"
        return f"{told} {given_up_pairs(evidence.stored)}".rstrip()
    return _run(evidence, usable)


def refusal(trust: Trust) -> str:
    """Why no figure of the run is advice; "" if they may be."""
    if trust.verdict != "not trustworthy":
        return ""
    failed = next(check for check in trust.checks if check.verdict == "fail")
    return f"No advice: the figures are not trustworthy. {failed.id}: {failed.detail}"


def busy_words(evidence: Evidence, rows: list[Row], trust: Trust) -> str:
    """First of all, if something else ran beside the programs: more rounds help little then, and
    processor time is disturbed less than the time of a clock."""
    found = next((check for check in trust.checks if check.id == "V13"), None)
    waited = found.figures.get("median_pressure") if found and found.verdict == "warn" else None
    if not waited or waited <= PRESSURE_SHARE:
        return ""
    machine = evidence.stored.run.machine
    load = machine.facts.quiet.load
    at = ""
    if load and load[0] >= machine.cores:  # else it became busy after the start
        at = f" (load {load[0]:.1f} on {counted(machine.cores, 'processor')})"
    if any(row.quantity == SIDE_BY_SIDE and row.ratio is not None for row in rows):
        return f"The machine was busy{at}. "
    by_cpu = _by_processor_time(evidence, rows)
    return (
        f"The machine was busy{at}: something waited for a processor "
        f"during {percent(waited)} of a typical process. Wait until it is quiet.{by_cpu} "
    )


def _by_processor_time(evidence: Evidence, rows: list[Row]) -> str:
    """The rows that differ from the baseline, the largest gains first, then the largest losses."""
    several = len({row.parameters for row in rows}) > 1
    told = [
        row
        for row in rows
        if row.quantity == "cpu_time"
        and not row.baseline
        and row.verdict in ("better", "worse")
        and row.subject not in evidence.control_names
    ]
    if not several:
        told.sort(key=lambda row: row.ratio or 1.0)
    each = [
        (row.verdict, f"{row.subject} {_relation(row)}{f' at {row.parameters}' if several else ''}")
        for row in told
    ]
    gains = [words for verdict, words in each if verdict == "better"]
    losses = [words for verdict, words in reversed(each) if verdict == "worse"]
    most = len(each) if several else NAMED
    parts = "; ".join(listed(words, most) for words in (gains, losses) if words)
    return f" By processor time: {parts}." if parts else ""


def _more_time(evidence: Evidence) -> str:
    """Every stored comparison can be gone on with. --time is the time in all."""
    stored = evidence.stored
    time = longer_duration(stored.spent_s, stored.run.plan.time_s)
    return f"heapwise resume {stored.run.id} --time {time}"


def _cells(evidence: Evidence, rows: list[Row], usable: list[Row]) -> str:
    """A sentence for each cell: cells are different work."""
    cells = list(dict.fromkeys(row.parameters for row in rows))
    found = {
        cell: _compare(
            evidence,
            [r for r in rows if r.parameters == cell],
            [r for r in usable if r.parameters == cell],
        )
        for cell in cells
    }
    said = " ".join(
        f"{cell}: {words}" if len(cells) > 1 else words for cell, words in found.items()
    )
    unsure = UNSURE.lower() in said.lower()
    if not unsure:
        return said
    return f"{said} More rounds: {_more_time(evidence)}.{_pairs_to_ask_for(evidence)}"


def _pairs_to_ask_for(evidence: Evidence) -> str:
    """What the user may know and Heapwise does not: whether two processes disturb each other."""
    if not evidence.stored.run.plan.options.asks_first:
        return ""
    return (
        f" {_what_is_shared(evidence.stored)}, so no two of it ran at the same time. If two do not "
        "disturb each other, compare --side-by-side tells more."
    )


def _what_is_shared(stored: StoredRun) -> str:
    """What two processes of the program would share, as far as it is known."""
    shared = shared_names(stored)
    if shared.names:
        first = shared.names[0]
        others = len(shared.names) - 1 + shared.more
        words = f"The program {DEEDS.get(first.how, 'uses')} {_below(stored, first.name)}"
        return f"{words} and {counted(others, 'other name')}" if others else words
    written = written_elsewhere(stored)
    words = f"writes {size(written)} elsewhere than to its output" if written else "may write files"
    why = "" if shared.missing == NOBODY_LOOKED else f" (which is not known: {shared.missing})"
    return f"The program {words}{why}"


def _below(stored: StoredRun, name: str) -> str:
    """A path in the folder in which the program ran, without that folder."""
    return name.removeprefix(f"{stored.run.plan.working_directory.rstrip('/')}/")


def _compare(evidence: Evidence, rows: list[Row], usable: list[Row]) -> str:
    base = next((r.subject for r in usable if r.baseline), "the baseline")
    if failed := _failed(evidence, rows, usable):
        return failed
    apart = _that_ended_otherwise(evidence, usable, base)
    alike = [row for row in usable if row.subject not in apart]
    quick, small = _of(alike, speed_quantity(alike)), _of(alike, "peak_memory")
    if len({r.subject for r in alike}) < 2:
        return _not_compared(apart)
    fastest, smallest = winner_of(evidence, quick), winner_of(evidence, small)
    others = [r.subject for r in quick if not r.baseline]
    if evidence.compares_builds and len(others) <= NAMED:
        parts = [_against(name, base, quick, small) for name in others]
    else:
        parts = _best(evidence, quick, small, fastest, smallest, base)
    lost = sorted(
        {r.subject for r in rows if r.status not in ("ok", "interrupted", "discarded")}
        - evidence.control_names
    )
    if lost:
        parts.append(f"Without figures: {', '.join(lost)}.")
    parts.append(_not_compared(apart))
    parts += [_rare(evidence, rows, base) for rows in (quick, small)]
    parts.append(_under_load(evidence, alike, base))
    unsure = [row for row in quick if row.verdict == "cannot tell" and not row.baseline]
    parts.append(second_opinion(evidence, alike, unsure))
    if rows and (why := fixed_time(evidence, rows[0].cell.setup)):
        parts.append(f"It may run for a fixed time (V27): {why}.")
    return " ".join(part for part in parts if part)


def _rare(evidence: Evidence, rows: list[Row], base: str) -> str:
    """The subject with most runs far beyond its typical one, and who else has such runs."""
    found = [
        (rare.new_count / rare.new_runs, row, rare)
        for row in rows
        if (rare := rare_of(evidence, row.cell, row.subject, base))
    ]
    if not found:
        return ""
    _, worst, rare = max(found, key=lambda each: each[0])
    others = [row.subject for _, row, _ in found if row is not worst]
    words = rare_words(rare, worst.subject, base, value_words(evidence, worst.cell))
    sentence = f"In {quantity_name(worst.quantity)}, {words}"
    if not others:
        return f"{sentence}."
    return f"{sentence}; {listed(others)} {'has' if len(others) == 1 else 'have'} such runs, too."


def _under_load(evidence: Evidence, rows: list[Row], base: str) -> str:
    """Subjects whose processor time, relative to that of the baseline, differs under load."""
    each = [
        f"{row.subject} {signed_ends(row.ratio_low, row.ratio_high)} (alone {signed_ends(*alone)})"
        for row in rows
        if row.ratio_low and row.ratio_high
        if (alone := ends_alone(evidence, row.cell, row.subject, base))
    ]
    if not each:
        return ""
    return f"Beside other processes, which share the caches, CPU time differs: {listed(each)}."


def _time_name(rows: list[Row]) -> str:
    return "CPU time, side by side," if _is_beside(rows) else "time"


def _faster(rows: list[Row]) -> str:
    return "needs less CPU time, side by side, than" if _is_beside(rows) else FASTER


def _is_beside(rows: list[Row]) -> bool:
    return any(row.quantity == SIDE_BY_SIDE for row in rows)


def _failed(evidence: Evidence, rows: list[Row], usable: list[Row]) -> str:
    """Why nothing can be compared, if the baseline or all others did not end well each time."""
    names = list(dict.fromkeys(row.subject for row in usable))
    known = any(row.baseline for row in usable)
    if known and len(names) > 1:
        return ""
    troubles = {
        row.subject: row.cell.setup
        for row in rows
        if row.status not in ("ok", "interrupted", "discarded") and (known or row.baseline)
    }
    if troubles:
        each = "; ".join(
            f"{subject} {outcome_of(evidence, setup, [subject])[1]}"
            for subject, setup in troubles.items()
        )
        others = {
            subject: evidence.tried[setup][subject]
            for subject, setup in troubles.items()
            if known and subject not in evidence.control_names
        }
        return " ".join(filter(None, [f"Cannot tell: {each}.", mixed_mallocs(others)]))
    only = f"Only {names[0]}" if names else "Nothing"
    return f"{only} was measured to the end: nothing to compare it with."


def _that_ended_otherwise(evidence: Evidence, rows: list[Row], base: str) -> dict[str, str]:
    """Subject -> with which exit code it ended, and with which the baseline."""
    found = {row.subject: other_ending(evidence, row.cell.setup, row.subject, base) for row in rows}
    return {subject: words for subject, words in found.items() if words}


def _not_compared(apart: dict[str, str]) -> str:
    each = "; ".join(f"{subject} {words}" for subject, words in apart.items())
    return f"Not compared, as a program that fails may do less work: {each}." if each else ""


def _against(name: str, base: str, quick: list[Row], small: list[Row]) -> str:
    """``new against old: 5.3 % faster (4.1 to 6.2 %), memory: no difference ±1.0 %.``"""
    words = [
        f"{what}{_relation(row)}"
        for what, rows in (
            ("CPU time, side by side: " if _is_beside(quick) else "", quick),
            ("memory: ", small),
        )
        for row in rows
        if row.subject == name and row.ratio is not None
    ]
    return f"{name} against {base}: {', '.join(words)}." if words else ""


def _relation(row: Row, what: str = "") -> str:
    """what: of which there is more or less, behind a space."""
    words = relation(row) + what
    return with_interval(words, interval(row)) if row.verdict in ("better", "worse") else words


def _best(
    evidence: Evidence,
    quick: list[Row],
    small: list[Row],
    fastest: Winner | None,
    smallest: Winner | None,
    base: str,
) -> list[str]:
    """Which is the fastest, and which the smallest."""
    parts = [
        _fastest(evidence, quick, small, fastest, base),
        _smallest(evidence, quick, small, smallest, fastest, base),
    ]
    faster = _faster(quick)
    if parts[1].startswith(UNSURE) and parts[0].replace(faster, SMALLER) == parts[1]:
        parts = [parts[0].replace(faster, f"is faster or {SMALLER}")]
    return parts


def _fastest(
    evidence: Evidence, quick: list[Row], small: list[Row], winner: Winner | None, base: str
) -> str:
    if winner is None:
        if _explained_by_few_calls(evidence, quick):
            return "Cannot tell which is fastest: the program hardly allocates."
        return _no_winner(evidence, quick, base, _faster(quick))
    gain = change(winner.ratio, "more", "less")
    words = f"Fastest: {winner.subject}, {gain} {_time_name(quick)} than {base}"
    level = _level_with(evidence, quick, winner.row)
    if level:
        words += f" (level with {listed(level, NAMED)})"
    cost = next((r for r in small if r.subject == winner.subject), None)
    other = (
        " The program hardly allocates, so look for another cause (V3)."
        if calls_of(evidence).hardly_allocates(winner.row.cell.setup)
        else ""
    )
    return f"{words}{_price(cost, 'memory')}.{other}"


def _explained_by_few_calls(evidence: Evidence, quick: list[Row]) -> bool:
    """Only where no difference was measured: a model does not deny one."""
    return (
        bool(quick)
        and calls_of(evidence).hardly_allocates(quick[0].cell.setup)
        and not any(row.verdict in ("better", "worse") for row in quick)
    )


def _smallest(
    evidence: Evidence,
    quick: list[Row],
    small: list[Row],
    winner: Winner | None,
    fastest: Winner | None,
    base: str,
) -> str:
    if not small:
        return ""
    if winner is None:
        return _no_winner(evidence, small, base, SMALLER)
    if fastest and fastest.subject == winner.subject:
        return "It is also the smallest."
    cost = next((r for r in quick if r.subject == winner.subject), None)
    return (
        f"Smallest: {winner.subject}, {change(winner.ratio, 'more', 'less')} memory"
        f"{_price(cost, _time_name(quick).rstrip(','))}."
    )


def _price(row: Row | None, what: str) -> str:
    if row is None or row.ratio is None:
        return ""
    if row.verdict in ("better", "worse"):
        if row.ratio >= 2:
            return f", with {significant(row.ratio)} times the {what}"
        return f", with {change(row.ratio, 'more', 'less')} {what}"
    if row.verdict == "no difference":
        return f", with no difference in {what}"
    return f"; its {what} cannot be told yet"


def _no_winner(evidence: Evidence, rows: list[Row], base: str, comparison: str) -> str:
    unsure = [r.subject for r in rows if r.verdict in ("cannot tell", "better")]
    if unsure:
        others = [r for r in rows if not r.baseline and r.subject not in unsure]
        what = " memory" if comparison == SMALLER else " CPU time" if _is_beside(rows) else ""
        worse = [r for r in others if r.verdict == "worse"]
        worst_first = sorted(worse, key=lambda row: -(row.ratio or 1.0))
        each = [f"{r.subject} {_relation(r, what)}" for r in worst_first]
        told = f"Against {base}: {listed(each, NAMED)}. " if each else ""
        who = f"any of {listed(unsure, len(unsure))}"
        if len(unsure) < 3:
            who = " or ".join(unsure)
        elif not others:
            who = "any of them"
        elif len(worse) == len(others):
            who = "any other"
        return f"{told}{UNSURE} whether {who} {comparison} {base}{_why_in_spite_of_rows(rows)}."
    subject = "No other" if evidence.compares_builds else "No allocator"
    return f"{subject} {comparison} {base}."


def _why_in_spite_of_rows(rows: list[Row]) -> str:
    """The table calls each of them better, by an interval that knows nothing of the others."""
    better = [r.subject for r in rows if r.verdict == "better"]
    others = sum(not r.baseline for r in rows)
    if not better or others < 2:
        return ""
    return (
        f" (the table says so of {' and '.join(better[:NAMED])}, but the best of {others} may "
        "have that by chance)"
    )


@dataclass(frozen=True)
class Winner:
    """ratio: to the baseline, without what the choice of the best adds."""

    row: Row
    ratio: float

    @property
    def subject(self) -> str:
        return self.row.subject


def winner_of(evidence: Evidence, rows: list[Row]) -> Winner | None:
    """The best of the rows of one cell and quantity; None if its lead could come from being
    chosen."""
    better = [r for r in rows if r.verdict == "better" and r.ratio is not None]
    best = min(better, key=lambda r: r.ratio or 1, default=None)
    gained = _lead(evidence, rows, best) if best else None
    if (
        best is None
        or gained is None
        or judge(gained, "higher", comparisons_of(evidence).floors.get(best.cell)) != "better"
    ):
        return None
    return Winner(best, 1 / gained.ratio if best.better == "lower" else gained.ratio)


def _lead(evidence: Evidence, rows: list[Row], winner: Row) -> PairedRatio | None:
    """How many times better than the baseline the winner would be, had it not been chosen for
    it."""
    names = [row.subject for row in rows if not row.baseline]
    base = next((row.subject for row in rows if row.baseline), None)
    return lead(evidence, winner.cell, winner.subject, names, base) if base else None


def _level_with(evidence: Evidence, rows: list[Row], winner: Row) -> list[str]:
    """Others that a direct comparison with the winner cannot tell from it. One that cannot be told
    from the baseline may still be as good as the winner; one that is worse than it is not."""
    cell, names = winner.cell, [row.subject for row in rows]
    found = []
    for row in rows:
        if row.baseline or row.verdict == "worse" or row.subject == winner.subject:
            continue
        ratio = lead(evidence, cell, winner.subject, names, row.subject)
        if judge(ratio, "higher", comparisons_of(evidence).floors.get(cell)) != "better":
            found.append(row.subject)
    return found


def _run(evidence: Evidence, usable: list[Row]) -> str:
    """How often each was fastest, over the first quantity of each experiment's cells."""
    if evidence.stored.run.plan.smoke:
        return "A smoke run: it shows that everything works, and is too short to rank anything."
    if not any(e.is_ranked for e in evidence.stored.run.experiments):
        return (
            "Choose by the tables: endings of attacks are not ranked. What resisting costs on "
            "your program: heapwise compare --protection -- PROGRAM."
        )
    if is_of_servers(evidence):
        return server_advice(usable) or NOTHING
    firsts = {e.id: e.quantities[0].name for e in evidence.stored.run.experiments}
    kinds = _by_kind(evidence, firsts)
    usable = [
        row for row in usable if not ranking_of(evidence).group_of(row.experiment, row.subject)
    ]
    if kinds and not usable:
        return kinds
    groups: dict[Cell, list[Row]] = {}
    for row in usable:
        if row.quantity == firsts.get(row.experiment):
            groups.setdefault(row.cell, []).append(row)
    contested = [rows for rows in groups.values() if len(rows) > 1]
    if not contested:
        return NOTHING
    if are_many_questions(evidence):
        return f"{len(firsts)} questions, each with an answer of its own."
    sure = {
        s.cell: s.best
        for s in alone(
            [s for s in standings(evidence) if s.quantity.name == firsts[s.cell.experiment]]
        )
    }
    best = [
        first if first and (first.baseline or first.subject == sure.get(first.cell)) else None
        for first in map(_first, contested)
    ]
    wins = Counter(row.subject for row in best if row is not None)
    ranks = wins.most_common()
    named = ranks if len(ranks) <= NAMED + 1 else ranks[:NAMED]
    parts = [f"{name} in {n}" for name, n in named]
    if others := len(ranks) - len(named):
        parts.append(f"{others} others in {sum(n for _, n in ranks[NAMED:])}")
    alike = sum(map(_is_alike, contested))
    if alike:
        parts.append(f"no difference in {alike}")
    if undecided := best.count(None) - alike:
        parts.append(f"cannot tell yet in {undecided}")
    same = {rows[0].better for rows in contested} == {"lower"}
    told = "" if wins else _told_from_baseline(contested, "Faster" if same else "Better")
    if best == [None] and not alike:
        return f"{UNSURE} which is {'fastest' if same else 'best'}.{told} {kinds}".rstrip()
    words = f"{'Fastest' if same else 'Best'} of {len(contested)} cells: {', '.join(parts)}."
    gains = sorted(
        max(1.0, gained.ratio)
        for r, rows in zip(best, contested, strict=True)
        if r and not r.baseline and (gained := _lead(evidence, rows, r))
    )
    if gains:
        base = next((r.subject for rows in contested for r in rows if r.baseline), "the baseline")
        span = times(gains[0]) if len(gains) == 1 else f"{times(gains[0])} to {times(gains[-1])}"
        words += f" Against {base}: {span}."
    return f"{words}{told} {kinds}".rstrip()


def _told_from_baseline(contested: list[list[Row]], better: str) -> str:
    """`` Faster than glibc: a in 8, b in 7 and 4 more.``: those that are told from the baseline
    where the first cannot be told. "" if there is none.

    contested: the rows of each cell. Those that are better in most cells come first, then those
    that are better by most.
    """
    gains: dict[str, list[float]] = {}
    for rows in contested:
        for row in rows:
            if row.verdict == "better" and row.ratio:
                gain = row.ratio if row.better == "higher" else 1 / row.ratio
                gains.setdefault(row.subject, []).append(gain)
    bases = {row.subject for rows in contested for row in rows if row.baseline}
    if not gains or not bases:
        return ""
    names = sorted(gains, key=lambda name: (-len(gains[name]), -fmean(map(log, gains[name]))))
    words = [f"{name} in {len(gains[name])}" if len(contested) > 1 else name for name in names]
    return f" {better} than {bases.pop() if len(bases) == 1 else 'the baseline'}: {listed(words)}."


def _by_kind(evidence: Evidence, firsts: dict[str, str]) -> str:
    """Where rows are of several kinds each kind has a first of its own, and there is no other."""
    found = [
        s
        for s in standings(evidence)
        if known_group(s.group)
        and s.quantity.name == firsts[s.cell.experiment]
        and not has_curves(evidence.experiments[s.cell.experiment])
    ]
    first = sorted(
        (s for s in found if s.cell == found[0].cell), key=lambda s: group_place(s.group)
    )
    if not first:
        return ""
    words = [f"{leaders(s)} of {GROUPS[s.group]}" for s in first]
    return f"Fastest of its kind: {'; '.join(words)}. Kinds are not ranked against each other."


def _first(rows: list[Row]) -> Row | None:
    """The best of those that are better than the baseline; the baseline if all others are worse; or
    None."""
    better = [r for r in rows if r.verdict == "better"]
    if better:
        return min(better, key=lambda r: (r.median or 0) * (1 if r.better == "lower" else -1))
    if any(r.verdict != "worse" for r in rows if not r.baseline):
        return None
    return next((r for r in rows if r.baseline), None)


def _is_alike(rows: list[Row]) -> bool:
    """Whether none is better than the baseline, or might be, and one at least is as good."""
    words = [r.verdict for r in rows if not r.baseline]
    return "no difference" in words and {*words} <= {"no difference", "worse"}


def _of(rows: list[Row], quantity: str) -> list[Row]:
    return [r for r in rows if r.quantity == quantity]
