"""Did a variable of the user's environment tune one of the allocators?

MALLOC_ARENA_MAX, MALLOC_CONF and the like tune one allocator and not the others. They are taken out
of the environment unless you keep them.
If it warns: leave out --keep-env to compare defaults with defaults.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check
from heapwise.wording.lists import counted, listed

ID, TITLE = "V20", "No tuning leaked in"

PREFIXES = (
    "MALLOC_", "GLIBC_TUNABLES", "LD_", "MIMALLOC_", "JEMALLOC_", "TCMALLOC_", "TBB_MALLOC_",
    "SCUDO_OPTIONS", "HEAPWISE_MALLOC_", "HEAPWISE_GC_",
)


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    environment = stored.run.plan.environment
    if not environment:
        return Check(ID, TITLE, "unavailable", "The environment of the processes is not on record.")
    prefixes = set(PREFIXES)
    for subject in stored.run.plan.subjects:
        prefixes.update(subject.peer.environment_prefixes if subject.peer else [])
    leaked = sorted(n for n in environment if n.startswith(tuple(p for p in prefixes if p)))
    declared = {s.name: dict(s.peer.environment) for s in stored.run.plan.subjects
                if s.peer and s.peer.environment and not s.control}
    figures = {"variables": len(environment), "leaked": leaked, "declared": declared}
    if leaked:
        values = [f"{name}={environment[name]}" for name in leaked]
        return Check(ID, TITLE, "warn", f"Kept from your environment: {listed(values)}. The rows "
                     "are not default against default.", figures)
    return Check(ID, TITLE, "pass", f"The processes got {counted(len(environment), 'variable')} of "
                 f"yours, none an allocator's or the loader's{_declared(declared)}.", figures)


def _declared(variables: dict[str, dict[str, str]]) -> str:
    words = [f"{name} gets {variable}={value}" for name, its in variables.items()
             for variable, value in its.items()]
    return f"; by its declaration {listed(words)}" if words else ""
