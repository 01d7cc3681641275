"""Options that say what is measured against what, in how many rounds and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapwise.options.option import (
    BISECT,
    COMPARE,
    EXPERIMENTS,
    GATE,
    MEASURING,
    PROGRAMS,
    REPLAY,
    REPRODUCE,
    RUN,
    SERVE,
    TRACES,
    Form,
    Variation,
    option,
)
from heapwise.options.process import ProcessOptions

PRECISION = 0.005


@dataclass(frozen=True, kw_only=True)
class RoundOptions(ProcessOptions):
    allocators: list[str] = option(
        "--allocators",
        metavar="A,B",
        form=Form.WORDS,
        help="Only these allocators (heapwise peers list shows them), or all. Without it, each of "
        "several programs keeps its malloc.",
        verbs=(COMPARE, SERVE, REPLAY),
        variations={REPLAY: Variation(help="Only these and glibc.")},
        default=[],
    )
    adhoc: list[str] = option(
        "--allocator",
        metavar="NAME=/PATH.so",
        help="Add the allocator in this library; repeatable. 'NAME:VARIABLE=VALUE=LIBRARY' adds it "
        "with this setting.",
        verbs=(COMPARE, SERVE),
        default=[],
    )
    baseline: str = option(
        "--baseline",
        metavar="NAME",
        help="Compare with this row. [default: the first]",
        verbs=(COMPARE, SERVE),
        default="",
    )
    rounds: int | None = option(
        "--rounds",
        "-r",
        "--runs",
        metavar="N",
        least=1,
        help="Measure exactly this many rounds.",
        verbs=(COMPARE, SERVE, *EXPERIMENTS, *TRACES),
    )
    least_rounds: int | None = option(
        "--min-rounds",
        "-m",
        "--min-runs",
        metavar="N",
        least=1,
        help="Measure at least this many rounds.",
        verbs=(COMPARE,),
    )
    """None: as many as the comparisons need."""

    time_s: float | None = option(
        "--time",
        metavar="DURATION",
        form=Form.DURATION,
        help="Start no new round after this long: 90s, 10m.",
        verbs=MEASURING,
        variations={GATE: Variation(typed="3m"), BISECT: Variation(typed="3m")},
    )
    precision: float = option(
        "--precision",
        metavar="PERCENT",
        form=Form.PERCENT,
        help="Measure until each 95 % interval is within this many percent.",
        verbs=(COMPARE,),
        typed=100 * PRECISION,
        default=PRECISION,
    )
    warm_up: int = option(
        "--warmup",
        "-w",
        metavar="N",
        least=0,
        help="Rounds before the first that counts.",
        verbs=PROGRAMS,
        typed=1,
        default=1,
    )
    input_path: str | None = option(
        "--input",
        metavar="FILE",
        help="Standard input of every process.",
        verbs=(*PROGRAMS, BISECT),
    )
    timeout_s: float = option(
        "--timeout",
        metavar="DURATION",
        form=Form.DURATION,
        help="Kill a process after this long.",
        verbs=(*PROGRAMS, BISECT, *EXPERIMENTS),
        default=0.0,
    )
    """0: there is no limit."""

    seed: int | None = option(
        "--seed",
        metavar="N",
        least=0,
        help="Seed of order and data.",
        verbs=(*PROGRAMS, SERVE, *EXPERIMENTS, *TRACES),
    )
    smoke: bool = option(
        "--smoke", help="Small sizes, as a trial.", verbs=EXPERIMENTS, default=False
    )
    subjects: list[str] = option(
        "--subjects",
        metavar="A,B",
        form=Form.WORDS,
        help="Only these and the baseline; or patterns.",
        verbs=(RUN,),
        default=[],
    )
    repeats: int | None = option(
        "--repeats", metavar="N", least=1, help="Repeats in each process.", verbs=(RUN,)
    )
    settings: list[str] = option(
        "--set",
        metavar="NAME=V1,V2",
        help="Values of a parameter; repeatable.",
        verbs=EXPERIMENTS,
        default=[],
    )
    author_outputs: list[Path] = option(
        "--author-output",
        metavar="FILE",
        help="What the author's program of the report printed here: JSON of Google Benchmark, TSV, "
        "CSV or lines of time; repeatable.",
        verbs=(REPRODUCE,),
        default=[],
    )
