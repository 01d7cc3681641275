"""Whether two processes of a program, at the same time, may disturb each other by what they change.

Processes that are not timed are looked at (bench/launcher/calls): of each the kernel tells which
names it changes, or asks others by. The rule: two processes share a name

- if the look at another process has it, too: a fixed file, port, socket or key; or
- if it is not certain that another process has another name. That is certain only of names that
  were made by a call that fails if they are there (``mkstemp``, ``mkdtemp``, a port), and of names
  that hold the number of the process; and only if there was a second look to compare with. A name
  that differs for another reason may hold the time of day, which is the same for both.

Not told by the kernel's calls, and so no names: pipes, socket pairs, anonymous memory, temporary
files without a name, /proc/self, terminals and devices that keep nothing, and what lies in a folder
that the process made itself. A file that both write with the same content is shared, too: one may
read it while the other writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from heapwise.evidence.kept import measured
from heapwise.model import ChangedName, ChangedNames, Process, Setup
from heapwise.store import StoredRun

NOBODY_LOOKED = "nobody looked"


@dataclass(frozen=True)
class SharedNames:
    """names: that two processes share. missing: why it is not known whether there are others."""

    names: Sequence[ChangedName] = ()
    more: int = 0
    missing: str = ""

    @property
    def none(self) -> bool:
        """Whether it is certain that there is none."""
        return not self.names and not self.missing


def shared_names(stored: StoredRun) -> SharedNames:
    """The names that two processes at the same settings share: others never run at once."""
    looks: dict[Setup, list[Process]] = {process.setup: [] for process in measured(stored)}
    for process in stored.processes:
        if process.facts.counting and process.facts.changed_names is not None:
            looks.setdefault(process.setup, []).append(process)
    found = [_shared([p for p in each if p.status == "ok"]) for each in looks.values()]
    names = {name.name: name for one in found for name in one.names}
    return SharedNames(
        list(names.values()),
        sum(one.more for one in found),
        next((one.missing for one in found if one.missing), "" if found else NOBODY_LOOKED),
    )


def _shared(looks: Sequence[Process]) -> SharedNames:
    changed = [p.facts.changed_names for p in looks if p.facts.changed_names is not None]
    often = Counter(name.name for each in changed for name in each.names)
    names = {
        name.name: name
        for each in changed
        for name in each.names
        if often[name.name] > 1 or len(changed) < 2 or not (name.exclusive or name.numbered)
    }
    more = max((each.more for each in changed), default=0)
    return SharedNames(list(names.values()), more if names else 0, _missing(changed))


def _missing(changed: Sequence[ChangedNames]) -> str:
    """The first reason; names that were not kept are one, too."""
    for each in changed:
        if each.missing:
            return each.missing
        if each.more:
            return f"it changes {len(each.names) + each.more} names"
    return "" if changed else NOBODY_LOOKED
