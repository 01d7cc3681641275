"""Are two runs of one program, with the same input, on one machine? What is compared for that.

A name identifies something only where it was given: a file by its contents and not by its path, a
program by its repository and its place there and not by the words of a command, and a machine by
its hardware, since a container's host name is another one in each run. ``catalog.same_build``
answers the same question for the files of two programs.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import PurePath

from heapwise.model.build import Build
from heapwise.model.revision import Revision
from heapwise.model.stored import Machine, Plan

GIB = 1 << 30


def hardware(machine: Machine) -> str:
    """The machine's name if it has one; else processor, cores and memory to the GiB."""
    memory = round(int(machine.memory_bytes) / GIB)
    return machine.name or f"{machine.cpu}, {machine.cores} cores, {memory} GiB"


def input_of(plan: Plan) -> str:
    """What identifies the file of ``--input``: a hash of its contents, or its path in a run that
    has no hash. "" without one."""
    if not plan.input_path:
        return ""
    state = (plan.options.files or {}).get("input")
    return state.sha256 if state is not None and state.sha256 else plan.input_path


def unlike_work(one: Plan, other: Plan) -> list[str]:
    """In what the work differs that two comparisons gave to their programs. The path of the program
    does not count, and neither does where its input lies."""
    parts: dict[str, Callable[[Plan], object]] = {
        "the arguments of the program": lambda plan: [build.command[1:] for build in _builds(plan)],
        "the contents of the input": input_of,
        "the processors": lambda plan: plan.options.cpus,
        "the length of the work (--smoke)": lambda plan: plan.smoke,
        "the commands before, after and beside it": lambda plan: (
            plan.options.check,
            [(b.prepare, b.conclude, b.setup, b.cleanup) for b in _builds(plan)],
        ),
    }
    return [name for name, part in parts.items() if part(one) != part(other)]


def _builds(plan: Plan) -> Sequence[Build]:
    return plan.builds or [plan.build_named("")]


def place_of(plan: Plan, revision: Revision | None) -> str:
    """Where a command was typed: the repository and the folder in it, else the absolute path."""
    folder = plan.working_directory
    if revision is None or not revision.repository:
        return folder
    inner = _inside(folder, revision.top)
    return revision.repository if inner in ("", ".") else f"{revision.repository} {inner}"


def command_at(build: Build, revision: Revision | None) -> str:
    """As typed, except that an absolute path into the repository is written from its top."""
    program, *words = build.as_typed or build.command
    top = revision.top if revision is not None else ""
    if top and PurePath(program).is_absolute():
        program = _inside(program, top) or program
    return shlex.join([program, *words])


def location_of(plan: Plan, build: Build, revision: Revision | None) -> str:
    """The path of the program as typed, from the top of the repository; "" if it is not in one."""
    if revision is None or not revision.top:
        return ""
    typed = (build.as_typed or build.command)[0]
    return _inside(os.path.normpath(PurePath(plan.working_directory) / typed), revision.top)


def _inside(path: str, top: str) -> str:
    """The path from the top; "" if it leads out of there."""
    if not path or not PurePath(path).is_relative_to(top):
        return ""
    return str(PurePath(path).relative_to(top))
