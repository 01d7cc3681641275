"""Did a variable of the user's environment tune one of the allocators?

MALLOC_ARENA_MAX, MALLOC_CONF and similar variables tune one allocator and not the others. Heapwise
removes them from the environment unless you use --keep-env.
In a fleet, the processes must have the variables of the client's shell. The process that starts
workers sets others (Dask: MALLOC_TRIM_THRESHOLD_, OMP_NUM_THREADS). The check fails if a measured
process has one of them.
If it warns: leave out --keep-env to compare default settings.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import LIBRARY_PATH, Check, Plan
from heapwise.wording.lists import counted, listed

ID, TITLE = "V20", "No tuning leaked in"

PREFIXES = (
    "MALLOC_",
    "GLIBC_TUNABLES",
    "LD_",
    "MIMALLOC_",
    "JEMALLOC_",
    "TCMALLOC_",
    "TBB_MALLOC_",
    "SCUDO_OPTIONS",
    "HEAPWISE_MALLOC_",
    "HEAPWISE_GC_",
)

HIDDEN_VALUE = "(not stored)"


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    environment = stored.run.plan.environment
    if not environment:
        return Check(ID, TITLE, "unavailable", "The environment of the processes is not on record.")
    prefixes = set(PREFIXES)
    for subject in stored.run.plan.subjects:
        prefixes.update(subject.peer.environment_prefixes if subject.peer else [])
    leaked = sorted(
        n
        for n in environment
        if n != LIBRARY_PATH and n.startswith(tuple(p for p in prefixes if p))
    )
    declared = {
        s.name: dict(s.peer.environment)
        for s in stored.run.plan.subjects
        if s.peer and s.peer.environment and not s.control
    }
    figures = {"variables": len(environment), "leaked": leaked, "declared": declared}
    if strange := _of_the_engine(stored.run.plan):
        return Check(
            ID,
            TITLE,
            "fail",
            f"The machine's worker changed {listed(strange)}: the "
            "processes did not have the environment that was captured.",
            figures | {"strange": strange},
        )
    if leaked:
        values = [f"{name}={environment[name]}" for name in leaked]
        return Check(
            ID,
            TITLE,
            "warn",
            f"Kept from your environment: {listed(values)}. The rows "
            "are not default against default.",
            figures,
        )
    declared |= {
        build.name or build.program: build.environment
        for build in stored.run.plan.builds
        if build.environment
    }
    libraries = environment.get(LIBRARY_PATH)
    found = f"; the loader looked for libraries in {libraries} first" if libraries else ""
    return Check(
        ID,
        TITLE,
        "pass",
        f"The processes got {counted(len(environment), 'variable')} of "
        f"yours, none of which tunes an allocator{_declared(declared)}{found}.",
        figures,
    )


def _of_the_engine(plan: Plan) -> list[str]:
    """Names of variables that differ from those that the client captured. A value that neither
    side stores is not compared; its name is."""
    if plan.options.fleet is None:
        return []
    captured = plan.options.fleet.environment
    return sorted(
        name
        for name, value in plan.environment.items()
        if name not in captured
        or (HIDDEN_VALUE not in (value, captured[name]) and captured[name] != value)
    )


def _declared(variables: dict[str, dict[str, str]]) -> str:
    words = [
        f"{name} gets {variable}={value}"
        for name, its in variables.items()
        for variable, value in its.items()
    ]
    return f"; by its declaration or command {listed(words)}" if words else ""
