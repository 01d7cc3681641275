"""Options that say how a server is started, put under load and stopped."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.options.option import SERVE, Form, option

ONLY_SERVE = (SERVE,)


@dataclass(frozen=True, kw_only=True)
class ServingOptions:
    ready: str = option(
        "--ready",
        metavar="WHEN",
        help="When the server is ready: tcp:PORT answers, http:URL answers, it prints "
        "line:REGEX, or command:COMMAND succeeds.",
        verbs=ONLY_SERVE,
        default="",
    )
    load: str = option(
        "--load",
        metavar="COMMAND",
        help="The load generator, with {rate}, {time} and {port} in its arguments.",
        verbs=ONLY_SERVE,
        default="",
    )
    recipe: str = option(
        "--recipe",
        metavar="NAME",
        help="A server with a known load, such as redis: see docs/how-to/measure-a-server.md.",
        verbs=ONLY_SERVE,
        default="",
    )
    rates: list[float] = option(
        "--rates",
        metavar="LIST",
        form=Form.SHARES,
        help="Measure latency at these rates, shares of the capacity with the slowest allocator: "
        "50%,70%.",
        verbs=ONLY_SERVE,
        default=[],
    )
    """They need {rate} in ``load``."""

    load_s: float | None = option(
        "--load-time",
        metavar="DURATION",
        form=Form.WHOLE_SECONDS,
        help="How long each load lasts. [10s, or what three rounds within --time allow]",
        verbs=ONLY_SERVE,
    )
    window_s: float = option(
        "--window",
        metavar="DURATION",
        form=Form.WHOLE_SECONDS,
        help="Measure the load in windows of this length, without those at the start that the "
        "data show to be warm-up.",
        verbs=ONLY_SERVE,
        default=0.0,
    )
    """0: the load is one."""

    idle_s: float | None = option(
        "--idle",
        metavar="DURATION",
        form=Form.DURATION,
        help="How long the server is idle after the load. [5s, or less as above]",
        verbs=ONLY_SERVE,
    )
    ready_s: float = option(
        "--ready-time",
        metavar="DURATION",
        form=Form.DURATION,
        help="How long a server may take to be ready.",
        verbs=ONLY_SERVE,
        typed="30s",
        default=30.0,
    )
