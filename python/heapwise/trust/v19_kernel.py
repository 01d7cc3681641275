"""Did a setting of the kernel change while the run went on?"""

from __future__ import annotations

from typing import Any

from heapwise.model import Check, Machine
from heapwise.store import StoredRun
from heapwise.trust.words import counted, listed

ID, TITLE = "V19", "The kernel's settings stayed"

SETTINGS = ("thp", "transparent", "hugepage", "overcommit", "max_map_count", "swap", "numa",
            "cgroup", "memory_max", "governor", "turbo", "randomize", "aslr", "cpu_max", "sysctl")
"""Words by which a recorded fact is a setting; load, free memory and the like may change."""

READINGS = ("free", "used", "usage", "current", "load", "available", "pressure")


def check(stored: StoredRun) -> Check:
    after = stored.run.machine_after
    if after is None:
        return Check(ID, TITLE, "unavailable", "The machine was not looked at again at the end.")
    before_settings, after_settings = _settings(stored.run.machine), _settings(after)
    shared = before_settings.keys() & after_settings.keys()
    if not shared:
        return Check(ID, TITLE, "unavailable", "No setting of the kernel is on record.")
    changed = {k: [before_settings[k], after_settings[k]] for k in sorted(shared)
               if before_settings[k] != after_settings[k]}
    figures = {"settings": {k: before_settings[k] for k in sorted(shared)}, "changed": changed}
    if changed:
        words = [f"{k} from {a} to {b}" for k, (a, b) in changed.items()]
        return Check(ID, TITLE, "fail", f"Changed during the run: {listed(words)}.", figures)
    return Check(ID, TITLE, "pass", f"{counted(len(shared), 'setting')} read before and after, "
                 "all the same.", figures)


def _settings(machine: Machine) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if machine.kernel:
        found = {"kernel": machine.kernel, "memory_bytes": machine.memory_bytes}
    for name, value in _flat("", machine.facts):
        lowered = name.lower()
        if any(w in lowered for w in SETTINGS) and not any(w in lowered for w in READINGS):
            found[name] = value
    return found


def _flat(prefix: str, facts: dict[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in facts.items():
        name = f"{prefix}{key}"
        found += _flat(f"{name}.", value) if isinstance(value, dict) else [(name, value)]
    return found
