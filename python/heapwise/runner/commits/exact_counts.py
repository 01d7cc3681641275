"""A metric of a program, counted in processes that are not timed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from heapwise.catalog import COUNTER, peer_prefixes
from heapwise.errors import Problem
from heapwise.model import ProcessFacts
from heapwise.runner.executors.cachegrind import total_in, under_cachegrind
from heapwise.runner.executors.counting import with_totals
from heapwise.runner.executors.whole_program import WholeProgram
from heapwise.runner.plan.compare_plan import CompareRequest
from heapwise.runner.process.environment import cleaned
from heapwise.runner.process.process_status import Reference, judge
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import Work
from heapwise.stats.claims.limits import CONFIRMED, COUNTS
from heapwise.wording.metrics import OF_COUNTS

VALGRIND = "valgrind"


@dataclass
class ExactCounts:
    """Counts one of ``OF_COUNTS``. request: input, limits and exit codes; not its programs.
    environment: of the program; None for the user's own."""

    metric: str
    request: CompareRequest = field(default_factory=CompareRequest)
    environment: dict[str, str] | None = None

    def __post_init__(self) -> None:
        """Problem E058 without valgrind, by which instructions are counted."""
        if self.metric == "instructions" and shutil.which(VALGRIND) is None:
            raise Problem("E058", "instructions cannot be counted here: valgrind is not installed")
        self._folder = ScratchFolder()

    def of(self, command: Sequence[str], least: int = COUNTS) -> list[int]:
        """``least`` processes, and up to ``CONFIRMED`` if they do not agree. Problem E030 if the
        program fails or has no such count; KeyboardInterrupt if it is stopped."""
        program = program_of(command, self.request, self._folder.path, self.environment)
        with StopSwitch() as stop:
            found = [self._once(program, stop) for _ in range(least)]
            while len(found) < CONFIRMED and len(set(found)) > 1:
                found.append(self._once(program, stop))
        return found

    def _once(self, program: WholeProgram, stop: StopSwitch) -> int:
        file = self._folder.path / "cachegrind"
        by_valgrind = self.metric == "instructions"
        program.work.begin()
        outcome = program.launch(
            None,
            0,  # one layout of the environment, which programs copy
            stop,
            "" if by_valgrind else COUNTER,
            under_cachegrind(program.command, file) if by_valgrind else program.command,
        )
        if outcome.interrupted:
            raise KeyboardInterrupt
        facts = structs.replace(
            with_totals(outcome.facts, outcome.counts),
            instructions=total_in(file) if by_valgrind else None,
        )
        status, reason = judge(outcome, None, program.reference)
        count = self._count(facts)
        if status != "ok" or count is None:
            raise Problem(
                "E030",
                f"{self.metric} of {program.command[0]} cannot be counted: "
                f"{reason or 'no such call was seen in its process'}",
                do="heapwise compare --dry-run -- PROGRAM says what can be counted in it",
            )
        return count

    def _count(self, facts: ProcessFacts) -> int | None:
        count = OF_COUNTS[self.metric].count
        return count(facts) if count else None


def program_of(
    command: Sequence[str],
    request: CompareRequest,
    folder: Path,
    environment: dict[str, str] | None,
) -> WholeProgram:
    """A program that is run by itself: its output and its files are not compared. environment: of
    the program; None for the user's own."""
    source = os.environ if environment is None else environment
    left, _ = cleaned(source, peer_prefixes(), keep=request.keep_environment)
    place = str(folder / "fresh") if request.fresh_folder else str(Path.cwd())
    return WholeProgram(
        command,
        left,
        0,
        folder,
        Work([], "", left, place, folder, is_fresh=request.fresh_folder),
        request.input_path,
        place,
        request.cpus,
        request.timeout_s,
        reference=Reference(
            ignore_output=True,
            ignores_exits=request.any_exit,
            ignored_exits=frozenset([0, *request.ignored_exits]),
        ),
    )
