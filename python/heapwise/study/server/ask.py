"""From the options of a comparison of servers to a plan."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from heapwise.errors import Problem
from heapwise.model import (
    SIDE_BY_SIDE,
    Experiment,
    Parameter,
    Plan,
    Quantity,
    ServerOptions,
    Subject,
    SubjectSpec,
)
from heapwise.options import ServingOptions
from heapwise.processors import usable_processors
from heapwise.runner.executors.program import GROUP_PEAK
from heapwise.runner.plan.compare_plan import CompareRequest, Prepared, prepare_compare
from heapwise.study.server.generators import RATE
from heapwise.study.server.lengths import choose_lengths, pairs_of, servers_of
from heapwise.study.server.load import demand_generator
from heapwise.study.server.pairs import PORT, obstacle
from heapwise.study.server.readiness import parse_ready
from heapwise.study.server.run import CAPACITY, server_executor

EXPERIMENT_ID = "server"
ROUNDS = 6

ASKS_ANOTHER = {"docker", "podman", "nerdctl", "kubectl", "service", "systemctl", "systemd-run"}
"""Programs that let another process start the server, which then has nothing preloaded."""

QUANTITIES = [
    Quantity("throughput", "requests/s", "higher", "sent as fast as they are answered"),
    Quantity("latency_p50", "s", "lower", "from the planned moment of a request to its answer"),
    Quantity("latency_p90", "s", "lower", "the same"),
    Quantity("latency_p99", "s", "lower", "the same"),
    Quantity("latency_p99_9", "s", "lower", "the same"),
    Quantity("latency_max", "s", "lower", "the same"),
    Quantity(
        "cpu_per_request",
        "ns",
        "lower",
        "processor time of the server for each request, its start and end included",
    ),
    Quantity(
        SIDE_BY_SIDE,
        "ratio",
        "lower",
        "the same, as a ratio to that of a server of the baseline which ran at the same time on "
        "the same processors, with a load of its own",
        relative=True,
    ),
    Quantity("peak_memory", "bytes", "lower", "high-water mark of its largest process"),
    Quantity(
        "tree_peak",
        "bytes",
        "lower",
        "most memory that all its processes had together, of the moments looked at",
    ),
    Quantity("mean_memory", "bytes", "lower", "of all its processes together, over the time"),
    GROUP_PEAK,
    Quantity("after_load", "bytes", "lower", "of all its processes, when the load ended"),
    Quantity("after_idle", "bytes", "lower", "the same at the end of the idle phase"),
    Quantity("ready_time", "s", "lower", "from its start until it answers"),
]


@dataclass(frozen=True, kw_only=True)
class ServerRequest(ServingOptions):
    """compare: of the server's program and the allocators. prepare: as in ``ServerOptions``."""

    compare: CompareRequest
    prepare: Sequence[str] = ()


def prepare_server(request: ServerRequest, environment: Mapping[str, str]) -> Prepared:
    """Problems: those of ``prepare_compare``; E003 for a load generator that is not known or whose
    rate cannot be set, for --ready, and for a program that does not start the server itself; E010
    for a load generator that is not installed."""
    parse_ready(request.ready)
    for build in request.compare.builds:
        _demand_own_start(build.command)
    options = _options(request, environment)
    prepared = prepare_compare(request.compare, environment)
    loads = [CAPACITY, *(_share(share) for share in options.rates)]
    goes_beside = _goes_beside(request)
    lengths = choose_lengths(
        request.load_s,
        request.idle_s,
        request.compare.time_s or 0.0,
        request.window_s,
        servers_of(len(prepared.plan.subjects), loads, has_rates=bool(options.rates)),
        pairs_of(len(prepared.plan.subjects)) if goes_beside else 0,
    )
    options = structs.replace(
        options,
        load_s=lengths.load_s,
        idle_s=lengths.idle_s,
        beside_s=lengths.beside_s if goes_beside else 0.0,
    )
    if len(prepared.plan.builds) > 1:
        raise Problem(
            "E003", "serve measures one server under several allocators", do="give one command"
        )
    rounds = request.compare.rounds or ROUNDS
    plan = replace(
        prepared.plan,
        kind="run",
        experiments=[EXPERIMENT_ID],
        parameters={"load": loads},
        min_rounds=rounds,
        max_rounds=rounds,
        precision=0.0,
        warm_up_rounds=0,
        time_s=request.compare.time_s or 0.0,
        options=replace(prepared.plan.options, server=options, rounds_given=True),
    )
    return replace(
        prepared,
        plan=plan,
        experiments=[_experiment(plan, prepared.plan.subjects, loads)],
        executor=server_executor,
    )


def _goes_beside(request: ServerRequest) -> bool:
    """Whether two servers run at once: if they can, and the user does not say no. Problem E003 if
    the user says yes and they cannot."""
    words = {
        "the command of the server": request.compare.builds[0].command,
        "--ready": [request.ready] if not request.ready.startswith("line:") else [PORT],
        "--load": [request.load],
    }
    found = obstacle(words)
    if found and request.compare.side_by_side:
        raise Problem("E003", f"--side-by-side: {found}", do=f"put {PORT} where the port stands")
    return not found and request.compare.side_by_side is not False


def _demand_own_start(command: Sequence[str]) -> None:
    name = Path(command[0]).name
    if name not in ASKS_ANOTHER or (name == "systemd-run" and "--scope" in command):
        return
    raise Problem(
        "E003",
        f"{name} asks another process to start the server",
        why="So heapwise cannot give the server an allocator, nor see its memory.",
        do="give the command of the server itself, in its container if it has one: "
        "docs/how-to/measure-a-server.md#containers-and-services",
    )


def _share(share: float) -> str:
    return f"{100 * share:g}%"


def _options(request: ServerRequest, environment: Mapping[str, str]) -> ServerOptions:
    try:
        words = shlex.split(request.load)
    except ValueError as error:
        raise Problem(
            "E003",
            f"--load cannot be taken apart: {error}",
            do="put the whole command in one kind of quotes, and its words in the other",
        ) from error
    generator = demand_generator(words)
    found = shutil.which(words[0], path=environment.get("PATH", os.defpath))
    if found is None:
        raise Problem(
            "E010",
            f"the load generator {words[0]} is not installed",
            do="docs/how-to/measure-a-server.md says where to get it",
        )
    has_rate = any(RATE in word for word in words)
    if request.rates and not has_rate:
        raise Problem(
            "E003",
            "--rates needs {rate} in --load",
            why="Else every allocator would get another load, and latencies could not be compared.",
            do=f"put {{rate}} where {generator.name} takes its rate",
        )
    if request.rates and not generator.has_schedule:
        raise Problem(
            "E003",
            f"{generator.name} sends no schedule, so --rates has no use",
            why="It waits for each answer, so it leaves out the requests that would have "
            "come while the server stood still, and with them the slow ones.",
            do="use oha or pgbench for latencies, or leave --rates and {rate} out for "
            "the throughput",
        )
    server, load = _processors(request.compare.cpus)
    return ServerOptions(
        ready=request.ready,
        load=[str(Path(found).absolute()), *words[1:]],
        rates=list(request.rates),
        window_s=request.window_s,
        ready_s=request.ready_s,
        prepare=list(request.prepare),
        server_cpus=server,
        load_cpus=load,
        recipe=request.recipe,
    )


def _processors(asked: Sequence[int]) -> tuple[list[int], list[int]]:
    """The processors of the server, and of the generator: halves, or what --cpus leaves. Both empty
    if there is only one processor."""
    here = usable_processors()
    if asked:
        rest = sorted(set(here) - set(asked))
        return sorted(asked), rest
    half = (len(here) + 1) // 2
    return (here[:half], here[half:]) if len(here) > 1 else ([], [])


def _experiment(plan: Plan, subjects: list[Subject], loads: list[str]) -> Experiment:
    name = Path(plan.command[0]).name
    specs = [
        SubjectSpec(subject.name, "inline", subject.title)
        for subject in subjects
        if not subject.control
    ]
    return Experiment(
        schema=1,
        id=EXPERIMENT_ID,
        family=EXPERIMENT_ID,
        question=f"Which allocator suits the server {name}, and what does it buy?",
        isolates="the allocator: server, load, machine and the rate of requests stay the same",
        not_shown="other loads, networks (everything is on the loopback), and days of work",
        parameters=[
            Parameter(
                "load",
                "share of the capacity of the slowest allocator",
                list(loads),
                list(loads),
                changes_work=True,
            )
        ],
        quantities=QUANTITIES,
        subjects=specs,
        baseline=next(subject.name for subject in subjects if subject.baseline),
        repeats=1,
        dropped_repeats=0,
    )
