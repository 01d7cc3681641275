"""Did a setting of the kernel change during the run?

Huge pages, overcommit, swap and limits of the cgroup have a large influence on memory. Heapwise
reads them before and after the run.
If it fails: somebody changed a setting during the run. Run again.
"""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import Check, Machine
from heapwise.model.json_value import Json
from heapwise.wording.lists import counted, listed

ID, TITLE = "V19", "The kernel's settings stayed"


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    after = stored.run.machine_after
    if after is None:
        return Check(ID, TITLE, "unavailable", "The machine was not looked at again at the end.")
    before_settings, after_settings = _settings(stored.run.machine), _settings(after)
    shared = before_settings.keys() & after_settings.keys()
    if not shared:
        return Check(ID, TITLE, "unavailable", "No setting of the kernel is on record.")
    changed = {
        k: [before_settings[k], after_settings[k]]
        for k in sorted(shared)
        if before_settings[k] != after_settings[k]
    }
    figures = {"settings": {k: before_settings[k] for k in sorted(shared)}, "changed": changed}
    if changed:
        words = [f"{k} from {a} to {b}" for k, (a, b) in changed.items()]
        return Check(ID, TITLE, "fail", f"Changed during the run: {listed(words)}.", figures)
    return Check(
        ID,
        TITLE,
        "pass",
        f"{counted(len(shared), 'setting')} read before and after, all the same.",
        figures,
    )


def _settings(machine: Machine) -> dict[str, Json]:
    """What ``machine`` records as settings, beside readings such as load and free memory."""
    settings = machine.facts.settings
    if not settings:
        return {}
    return {"kernel": machine.kernel, "memory_bytes": machine.memory_bytes, **settings}
