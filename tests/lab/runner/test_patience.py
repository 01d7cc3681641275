"""Waiting for a core of one's own: only with something to compare with, and never for long."""

from __future__ import annotations

from heapwise.model import ProcessFacts, SampleFacts
from heapwise.runner.process.patience import MOST_MS, SHARE, Patience


def test_without_a_sample_there_is_nothing_to_wait_for() -> None:
    patience = Patience()
    patience.note_process(ProcessFacts(wall_s=100.0))
    patience.note_sample(SampleFacts(elapsed_ns=7))
    assert patience.options() == []


def test_the_least_of_all_samples_is_what_quiet_means() -> None:
    patience = Patience()
    for before, after in ((50_000, 41_000), (40_000, 60_000), (45_000, 44_000)):
        patience.note_sample(SampleFacts(breadth_before_ns=before, breadth_after_ns=after))
    assert patience.options()[:2] == ["--quiet-ns", "40000"]


def test_a_process_waits_at_most_so_long() -> None:
    patience = Patience()
    patience.note_sample(SampleFacts(breadth_before_ns=40_000, breadth_after_ns=40_000))
    assert patience.options()[2:] == ["--patience-ms", "0"]
    patience.note_process(ProcessFacts(wall_s=1.0))
    assert patience.options()[2:] == ["--patience-ms", str(int(SHARE * 1000))]
    patience.note_process(ProcessFacts(wall_s=1000.0))
    assert patience.options()[2:] == ["--patience-ms", str(MOST_MS)]


def test_beside_a_neighbour_who_never_leaves_a_run_has_an_end() -> None:
    patience = Patience()
    waited_s = working_s = 0.0
    for _ in range(500):
        options = patience.options()
        wait_s = int(options[3]) / 1000 if options else 0.0
        patience.note_sample(
            SampleFacts(breadth_before_ns=60_000, breadth_after_ns=40_000, waited_ns=wait_s * 1e9)
        )
        patience.note_process(ProcessFacts(wall_s=0.2 + wait_s))
        waited_s, working_s = waited_s + wait_s, working_s + 0.2
    assert 0.7 * working_s < waited_s <= SHARE * working_s
