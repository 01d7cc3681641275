"""Did every subject do all of the same work?

A program that crashes or ends early looks fast. For every process Heapwise compares the exit code,
a hash of the output, the files of --output-file and the result of --check. In one more process for
each allocator it counts the calls of malloc. Experiments count their own blocks. If a program
leaves processes running when it ends, they are killed, and their work is not timed.
If it fails: make the output repeatable, or use --ignore-output if the difference is harmless. If it
names processes left running: use the program's option to stay in the foreground. If it warns that
nothing was compared: name the files that the program writes, or a command that checks them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from heapwise.evidence import Evidence, calls_of
from heapwise.evidence.endings import different_codes
from heapwise.evidence.failures_beside import failures_beside
from heapwise.evidence.kept import timed
from heapwise.model import Check, PlanOptions, Process, Setup, Verdict
from heapwise.store import StoredRun
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted, listed
from heapwise.wording.names import spaced

ID, TITLE = "V8", "Every subject did the same work"

LATE_S, LATE_SHARE = 0.005, 0.01
"""Work after the end of the program that is longer than this, and than 1 % of the program's time,
matters."""

BAD = {"crashed", "failed", "timed_out", "output_differs", "wrong_allocator"}


Judge = Callable[[Evidence, list[Process], Counter[str], list[str]], tuple[Verdict, str]]
"""Evidence, timed processes, what broke, and what was compared -> the verdict and its words."""


def _check(judge: Judge, evidence: Evidence) -> Check:
    stored = evidence.stored
    processes = [p for p in stored.processes if timed(p)]
    proven = [p for p in processes if p.facts.output_hash or p.facts.checks]
    broken = Counter(
        f"{_program(evidence, p)} {spaced(p.status)}" for p in processes if p.status in BAD
    )
    broken += Counter(
        f"{_program(evidence, p)} {spaced(p.status)} side by side"
        for p in failures_beside(stored.processes)
    )
    different = _different(evidence, [p for p in processes if p.status == "ok"])
    false = [
        f"{p.subject}: {c.detail or c.id}"
        for p in processes
        for c in p.facts.checks or ()
        if not c.ok
    ]
    compared = _compared(stored, processes)
    counts = calls_of(evidence).counts
    figures = {
        "processes": len(processes),
        "proven": len(proven),
        "broken": dict(broken),
        "different": different,
        "failed_checks": false[:20],
        "compared": compared,
        "calls": counts.requests if counts else {},
    }
    if false:
        return Check(ID, TITLE, "fail", f"A check of the work failed: {listed(false)}.", figures)
    if different:
        return Check(
            ID,
            TITLE,
            "fail",
            f"What the program did is not what it did under the baseline: {listed(different)}.",
            figures,
        )
    if not proven:
        return Check(ID, TITLE, "unavailable", "Neither output nor work was recorded.", figures)
    return Check(ID, TITLE, *judge(evidence, processes, broken, compared), figures)


def _unfinished(
    evidence: Evidence,
    processes: list[Process],
    broken: Counter[str],
    finished: Callable[[list[bool]], bool],
) -> tuple[Verdict, str] | None:
    """The verdict on processes that did not finish their work, or left some of it to others; None
    if there are none.
    finished: whether the baseline did, by how each of its processes ended."""
    ended = [
        p.status not in BAD for p in processes if evidence.baselines.get(p.experiment) == p.subject
    ]
    if ended and not finished(ended):
        return "fail", f"The baseline itself did not finish: {_times(broken)}."
    if leaving := [left for p in processes if (left := p.facts.lingering)]:
        return _left_behind(evidence.stored, leaving, len(processes))
    if broken:
        return "warn", (
            f"Not all processes finished, and those that did not have no figures: {_times(broken)}."
        )
    return None


def _of_experiments(
    evidence: Evidence, processes: list[Process], broken: Counter[str], compared: list[str]
) -> tuple[Verdict, str]:
    if unfinished := _unfinished(evidence, processes, broken, all):
        return unfinished
    of_programs = [p for p in processes if p.experiment in evidence.whole_programs]
    if late := _late(of_programs):
        return "warn", late
    also = "; of programs exit code, output, files and checks" if of_programs else ""
    return "pass", (
        "Exit code and the experiment's own count agree in all "
        f"{counted(len(processes), 'process', 'processes')}{also}."
    )


def _of_programs(
    evidence: Evidence, processes: list[Process], broken: Counter[str], compared: list[str]
) -> tuple[Verdict, str]:
    # A program of the user may fail now and then, or in one of the settings that the user tries.
    if unfinished := _unfinished(evidence, processes, broken, any):
        return unfinished
    if codes := different_codes(evidence):
        return "warn", (
            f"The programs ended with different exit codes: {listed(codes)}. The codes "
            "are allowed, but a program that fails may do less work."
        )
    if late := _late(processes):
        return "warn", late
    if unequal := _unequal_counts(evidence):
        return "warn", unequal
    if unlike := _unlike_builds(evidence, [p for p in processes if p.status == "ok"]):
        return "warn", unlike
    if not compared:
        why = (
            "The output was to be ignored"
            if evidence.stored.run.plan.options.ignore_output
            else "The program printed nothing"
        )
        return "warn", (
            f"{why}, so only exit codes say that each subject did the same work. "
            "--output-file or --check can prove it."
        )
    return "pass", (
        f"Exit code, {' and '.join(compared)} agree in all "
        f"{counted(len(processes), 'process', 'processes')}{_counts(evidence)}."
    )


def _unequal_counts(evidence: Evidence) -> str:
    """Subjects under which the program asks for memory more or less often, with the numbers."""
    counts = next((counts for counts in calls_of(evidence).all_counts if counts.differing), None)
    if counts is None:
        return ""
    words = listed(f"{name} {n:,}" for name, n in counts.differing.items())
    base = f"{counts.requests[counts.baseline]:,} under {counts.baseline}"
    return (
        f"The program's calls of malloc are not as many under each allocator: {words}, against "
        f"{base}. Either it does other work, or it adapts to what it is given."
    )


def _counts(evidence: Evidence) -> str:
    counts = calls_of(evidence).counts
    if counts is None or counts.baseline not in counts.requests:
        return ""
    if len(counts.requests) == 1:
        return "; calls of malloc were counted under the baseline only"
    return (
        f"; as many calls of malloc, about {counts.requests[counts.baseline]:,}, under each of "
        f"{counted(len(counts.requests), 'allocator')}"
    )


def _left_behind(stored: StoredRun, leaving: list[int], total: int) -> tuple[Verdict, str]:
    words = (
        f"{len(leaving)} of {counted(total, 'process', 'processes')} left up to "
        f"{counted(max(leaving), 'other')} running when they ended. These were killed, and "
        "their work was not timed"
    )
    if stored.run.plan.options.allow_background:
        return "warn", f"{words}, which --allow-background allows."
    return "fail", (
        f"{words}: use the program's option to stay in the foreground, or "
        "--allow-background if what they do does not matter."
    )


def _late(processes: list[Process]) -> str:
    """Processes that went on after the program, and ended by themselves before they were killed."""
    late = [
        (p.facts.late_s, p.facts.late_s / p.facts.wall_s)
        for p in processes
        if p.facts.late_s and p.facts.wall_s and p.facts.late_s > LATE_S
    ]
    late = [(seconds, share) for seconds, share in late if share > LATE_SHARE]
    if not late:
        return ""
    longest = max(seconds for seconds, _ in late)
    return (
        f"In {len(late)} of {counted(len(processes), 'process', 'processes')} what the program "
        f"started went on for up to {longest * 1000:.0f} ms after it had ended. That time is "
        "in no figure."
    )


def _compared(stored: StoredRun, processes: list[Process]) -> list[str]:
    """What besides the exit code was compared in a comparison, in words."""
    options, found = stored.run.plan.options, []
    printed = any(p.facts.output_bytes != 0 for p in processes)
    if printed and not options.ignore_output:
        found.append("output")
    if options.output_files:
        found.append(counted(len(options.output_files), "file"))
    if options.check:
        found.append("the answer of --check")
    return found


def _program(evidence: Evidence, process: Process) -> str:
    """Both labels of a baseline are one program."""
    subject = evidence.subjects.get(process.subject)
    return subject.parts.measured if subject and subject.control else process.subject


def _times(broken: Counter[str]) -> str:
    return listed(f"{what} ({n} times)" if n > 1 else what for what, n in broken.items())


def _different(evidence: Evidence, processes: Iterable[Process]) -> list[str]:
    """Subjects whose exit code, output or files are others than the baseline's.

    Only where a program's output is compared: an experiment prints its figures, which vary.
    """
    stored = evidence.stored
    options = stored.run.plan.options
    found: list[str] = []
    for ((experiment, _), build), members in _groups(evidence, processes).items():
        reference = calls_of(evidence).references.get(build, evidence.baselines.get(experiment))
        base = [p for p in members if p.subject == reference] or members
        right = Counter(_outcome(p, options) for p in base).most_common(1)[0][0]
        found += [p.subject for p in members if _outcome(p, options) != right]
    return sorted(set(found))


def _groups(
    evidence: Evidence, processes: Iterable[Process]
) -> dict[tuple[Setup, str], list[Process]]:
    """By setup and build: all processes of a group have to do the same."""
    groups: dict[tuple[Setup, str], list[Process]] = {}
    for process in processes:
        if process.facts.output_hash and process.experiment in evidence.whole_programs:
            build = evidence.build_of(process.subject)
            groups.setdefault((process.setup, build), []).append(process)
    return groups


def _unlike_builds(evidence: Evidence, processes: list[Process]) -> str:
    """Builds that print something else than the baseline's build. They may well be meant to."""
    options = evidence.stored.run.plan.options
    if not evidence.compares_builds:
        return ""
    done: dict[Setup, dict[str, tuple[object, ...]]] = {}
    for (setup, build), members in _groups(evidence, processes).items():
        done.setdefault(setup, {})[build] = _outcome(members[0], options)
    first = next(iter(calls_of(evidence).references))
    unlike = sorted(
        {
            build
            for of_builds in done.values()
            for build, outcome in of_builds.items()
            if outcome != of_builds.get(first, outcome)
        }
    )
    return (
        (
            f"{listed(unlike)}: not the output, exit code or files of {first}, so they may do "
            "other work. --ignore-output if that is meant."
        )
        if unlike
        else ""
    )


def _outcome(process: Process, options: PlanOptions) -> tuple[object, ...]:
    facts = process.facts
    printed = None if options.ignore_output else facts.output_hash
    ignored = options.any_exit or facts.exit_code in options.ignored_exits
    code = 0 if ignored else facts.exit_code
    return printed, code, tuple(sorted((facts.output_files or {}).items()))


check = Applies(
    ID, TITLE, programs, partial(_check, _of_programs), others=partial(_check, _of_experiments)
)
