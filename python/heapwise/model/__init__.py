"""The types that every other package uses; this package imports none of them.

``declared`` is what an experiment says of itself, ``stored`` what a run keeps on disk, ``derived``
what an analysis makes of it.
"""

from heapwise.model.cell import Cell, Setting, Settings, Setup, same_setting, setting_order
from heapwise.model.declared import (
    EXPERIMENT_ID,
    Better,
    Expectation,
    Experiment,
    Parameter,
    Quantity,
    SeedFigure,
    SubjectSpec,
)
from heapwise.model.derived import (
    Detectable,
    Expected,
    Finding,
    Goal,
    Result,
    Row,
    Trust,
)
from heapwise.model.stored import (
    FILES,
    MARKS,
    RUN_ID,
    SCHEMA_VERSION,
    Check,
    Machine,
    Peer,
    Plan,
    Process,
    Run,
    Sample,
    Status,
    Subject,
    Verdict,
)
from heapwise.model.subject_name import SubjectName, control_name, name_with_peer, short_name

__all__ = [
    "EXPERIMENT_ID", "FILES", "MARKS", "RUN_ID", "SCHEMA_VERSION", "Better", "Cell", "Check",
    "Detectable", "Expectation", "Expected", "Experiment", "Finding", "Goal", "Machine",
    "Parameter", "Peer", "Plan", "Process", "Quantity", "Result", "Row", "Run", "Sample",
    "SeedFigure", "Setting", "Settings", "Setup", "Status", "Subject", "SubjectName",
    "SubjectSpec", "Trust", "Verdict", "control_name", "name_with_peer", "same_setting",
    "setting_order", "short_name",
]
