"""The types that every other package uses; this package imports none of them.

``declared`` is what an experiment says of itself, ``stored`` what a run keeps on disk, ``derived``
what an analysis makes of it. ``facts``, ``machine`` and ``options`` are parts of what is stored.
"""

from heapwise.model.build import ROUND, Build, filled, telling_names
from heapwise.model.cell import Cell, Setting, Settings, Setup, same_setting, setting_order
from heapwise.model.declared import (
    EXPERIMENT_ID,
    PROCESSOR_TIME,
    PROGRAM,
    Answer,
    Better,
    CitedFigure,
    Expectation,
    Experiment,
    Parameter,
    ProgramSpec,
    Quantity,
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
from heapwise.model.difference import Difference, DifferenceRow
from heapwise.model.facts import (
    Calls,
    Clock,
    Counter,
    CountLine,
    End,
    Identity,
    LauncherFacts,
    Library,
    LoadFacts,
    LostExec,
    MemoryCurve,
    ProbeFacts,
    ProcessFacts,
    Processor,
    SampleFacts,
    Start,
    WindowFacts,
    WorkCheck,
)
from heapwise.model.gate import GateOptions, GateResult, GateRow, GateVerdict
from heapwise.model.machine import MachineFacts, Quiet
from heapwise.model.options import (
    EnvironmentMarks,
    FileState,
    FleetOrigin,
    PlanOptions,
    PoolCandidate,
    Replay,
    Reproduction,
    ServerOptions,
)
from heapwise.model.published import (
    Conclusion,
    Formula,
    Picture,
    Place,
    PublishedFigure,
    PublishedReport,
    PublishedRow,
    PublishedTable,
    SourceMachine,
    Statement,
    Statistic,
    settle,
)
from heapwise.model.revision import Revision
from heapwise.model.self_test import Outcome, Planted, SelfTest
from heapwise.model.stored import (
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
    "EXPERIMENT_ID", "PROCESSOR_TIME", "PROGRAM", "ROUND", "RUN_ID", "SCHEMA_VERSION", "Answer",
    "Better", "Build", "Calls", "Cell", "Check", "CitedFigure", "Clock", "Conclusion",
    "CountLine", "Counter", "Detectable", "Difference", "DifferenceRow", "End",
    "EnvironmentMarks", "Expectation", "Expected", "Experiment", "FileState", "Finding",
    "FleetOrigin", "Formula", "GateOptions", "GateResult", "GateRow", "GateVerdict", "Goal",
    "Identity", "LauncherFacts", "Library", "LoadFacts", "LostExec", "Machine", "MachineFacts",
    "MemoryCurve", "Outcome", "Parameter", "Peer", "Picture", "Place", "Plan", "PlanOptions",
    "Planted", "PoolCandidate", "ProbeFacts", "Process", "ProcessFacts", "Processor",
    "ProgramSpec", "PublishedFigure", "PublishedReport", "PublishedRow", "PublishedTable",
    "Quantity", "Quiet", "Replay", "Reproduction", "Result", "Revision", "Row", "Run", "Sample",
    "SampleFacts", "SelfTest", "ServerOptions", "Setting", "Settings", "Setup", "SourceMachine",
    "Start", "Statement", "Statistic", "Status", "Subject", "SubjectName", "SubjectSpec",
    "Trust", "Verdict", "WindowFacts", "WorkCheck", "control_name", "filled", "name_with_peer",
    "same_setting", "setting_order", "settle", "short_name", "telling_names",
]
