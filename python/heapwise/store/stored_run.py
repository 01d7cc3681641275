"""A run as it lies on the disk, read back: what the analysis and the report start from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapwise.model import Process, Run, Sample
from heapwise.store.time_spent import spent_s


@dataclass(frozen=True)
class StoredRun:
    """One run folder, complete or not.

    ``processes`` and ``samples`` are in the order in which they were appended. A sample whose
    process number is in no process line belongs to an interrupted process: it is in ``samples``,
    and code that computes statistics leaves it out (``finished_samples`` does).

    What the analysis may rely on:

    - ``run.experiments`` are *resolved*: ``subjects`` are those really run (``malloc`` expanded to
      ``malloc@glibc``, ``malloc@jemalloc``, ...) and ``baseline`` is one of them. ``compare``
      stores one experiment with the id ``compare`` whose quantities are ``wall_time`` (s),
      ``cpu_time`` (s), ``peak_memory`` (bytes), ``minor_faults``, ``major_faults``,
      ``voluntary_switches`` and ``involuntary_switches`` (count).
    - the control (second label of the baseline, A/A) is the subject ``<baseline>-control``; its
      ``Subject.control`` is true.
    - only processes with status ``ok`` have samples that count. ``warm_up`` processes and samples
      never count.
    - the counting processes (V3, untimed) have ``round`` -1, ``warm_up`` true and
      ``facts.counting`` true; ``facts.calls`` and ``facts.bytes_requested`` are summed
      over their processes, ``facts.counted_wall_s`` is the longest one's.
    - samples of one round pair up: same ``round``, ``experiment`` and ``parameters``.
    """

    path: Path
    run: Run
    processes: list[Process]
    samples: list[Sample]
    damaged_lines: int = 0

    @property
    def spent_s(self) -> float:
        """The time that its processes took, which counts against ``--time``."""
        return spent_s(each for each in self.processes if each.status != "interrupted")

    @property
    def finished_samples(self) -> list[Sample]:
        """The samples whose process ended well, warm-up included."""
        well = {process.number for process in self.processes if process.status == "ok"}
        return [sample for sample in self.samples if sample.process in well]
