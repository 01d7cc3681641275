"""Rounds that need not be measured again."""

from __future__ import annotations

from heapwise.evidence.evidence import Evidence
from heapwise.model import Setup


def sound_rounds(evidence: Evidence) -> dict[Setup, dict[str, set[int]]]:
    """Setup -> subject -> the rounds that need not be made up."""
    found: dict[Setup, dict[str, set[int]]] = {}
    for sample in evidence.filtered.sound:
        found.setdefault(sample.setup, {}).setdefault(sample.subject, set()).add(sample.round)
    return found


def paired_rounds(evidence: Evidence, setup: Setup, subject: str) -> set[int]:
    """Rounds of the subject that can be compared; of the baseline, with its control."""
    (experiment, _), row = setup, evidence.once(sound_rounds).get(setup, {})
    baseline, control = evidence.baselines.get(experiment), evidence.controls.get(experiment)
    labels = [row.get(name or "", set()) for name in (baseline, control)]
    if subject in (baseline, control):
        return labels[0] & labels[1] if all(labels) else labels[0] | labels[1]
    return row.get(subject, set()) & (labels[0] | labels[1])
