"""A machine in Markdown: what has to be known of it before a figure of it means something."""

from __future__ import annotations

import re

from heapwise.document import TextTable, plain_table
from heapwise.model import Machine, Revision
from heapwise.report.view import View
from heapwise.wording.numbers import size

KIND = ("family", "model", "stepping")
ABOUT_BRANDS = re.compile(r"\([^)]*\)|\b(GNU/Linux|Processor|CPU|\d+-Core)\b|@.*$", re.IGNORECASE)
"""What a name of a processor or of a system has beside the name."""


def folder_of(machine: Machine) -> str:
    """``debian-12-amd-epyc-family-25-model-1-2-cores``: a name for its folder of results. It has
    family and model, because a hypervisor may give all processors of a maker one name."""
    known = machine.facts.processor
    kind = " ".join(f"{name} {known[name]}" for name in ("family", "model") if name in known)
    words = f"{_bare(machine.distribution)} {_bare(machine.cpu)} {kind} {machine.cores} cores"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def kind_of(machine: Machine) -> str:
    """``AMD EPYC (family 25, model 17, stepping 1), 2 cores``."""
    known = machine.facts.processor
    kind = ", ".join(f"{name} {known[name]}" for name in KIND if name in known)
    return f"{machine.cpu}{f' ({kind})' if kind else ''}, {machine.cores} cores"


def title_of(machine: Machine) -> str:
    return f"{_bare(machine.cpu)}, {machine.cores} cores, {_bare(machine.distribution)}"


def built_words(revision: Revision | None, program_hash: str) -> str:
    """The commit and the hash of what was measured; "" if neither is known."""
    words = []
    if revision is not None:
        changed = ", with changes that are not in it" if revision.dirty else ""
        words.append(f"Commit {revision.commit[:12]} of {revision.committed[:10]}{changed}.")
    words += [f"Hash of the build {program_hash}."] if program_hash else []
    return " ".join(words)


def machine_facts(view: View) -> list[tuple[str, str]]:
    """Processor, caches, memory, system, C library, compiler and flags, allocators and programs."""
    machine = view.run.machine
    facts = machine.facts
    caches = ", ".join(f"{name} {size(held)}" for name, held in machine.caches.items())
    virtual = ", a virtual machine" if facts.virtual else ""
    governors = ", ".join(dict.fromkeys(facts.cpufreq_governors or []))
    found = [
        ("Processor", f"{machine.cpu}, {machine.cores} processors{virtual}"),
        ("Kind of processor", ", ".join(map(" ".join, facts.processor.items()))),
        ("Caches", caches),
        ("Memory", f"{size(machine.memory_bytes)}, pages of {size(machine.page_bytes)}"),
        ("Frequency", governors or "not controlled: the system has no cpufreq"),
        ("System", machine.distribution),
        ("Kernel", machine.kernel),
        ("C library", machine.libc),
        ("Compiler and flags", "; ".join(map(str, view.builds))),
        ("Allocators", ", ".join(_peers(view))),
        ("Programs", ", ".join(_programs(view))),
    ]
    return [(name, value) for name, value in found if value]


def machine_table(view: View) -> TextTable:
    return plain_table([["", "of this machine"], *machine_facts(view)])


def _bare(name: str) -> str:
    return " ".join(ABOUT_BRANDS.sub(" ", name).split())


def _peers(view: View) -> list[str]:
    """Each with its version. A version that is not known is not a word."""
    found = [subject.peer for subject in view.run.plan.subjects if subject.peer]
    return list(dict.fromkeys(f"{peer.name} {peer.version}".strip() for peer in found))


def _programs(view: View) -> list[str]:
    """Compilers and runtimes of subjects that are programs."""
    return list(
        dict.fromkeys(
            spec.version
            for experiment in view.run.experiments
            if experiment.is_of_programs
            for spec in experiment.subjects
            if spec.available and spec.version
        )
    )
