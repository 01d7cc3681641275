"""From a trace to a run that plays it under every allocator."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from heapwise.catalog import SCRIPT_MAKER, data_folder, native_part
from heapwise.errors import Problem
from heapwise.model import PoolCandidate, Replay
from heapwise.processors import usable_processors
from heapwise.runner.plan.compare_plan import Prepared
from heapwise.runner.plan.experiment_plan import RunRequest, prepare_run
from heapwise.study.replay.site_names import SiteNames
from heapwise.trace import Trace, open_trace
from heapwise.trace.candidates import SiteCandidate, find_candidates
from heapwise.trace.contents import read_contents
from heapwise.trace.file import FrameKind
from heapwise.trace.names.symbols import Symbols
from heapwise.wording.pools import POOL_NAMES

EXPERIMENT, ADVICE = "trace/replay", "trace/advice"

MADE = "as_recorded"
"""The subject of ADVICE in which no site has a pool."""


@dataclass(frozen=True)
class NothingToPool:
    """No call site could have a pool or an arena. refused: sites with many blocks, and why."""

    trace: Path
    refused: list[str]


def prepare_replay(
    trace: Path,
    request: RunRequest,
    environment: Mapping[str, str],
    *,
    window: int | None = None,
    force: bool = False,
) -> Prepared:
    """Plays the window of this number; without one the whole run, or if the trace does not hold it
    the window with the highest live bytes. Problems: E062 for a trace that cannot be read or cannot
    be played, and those of ``run``."""
    with open_trace(trace) as opened:
        refuse_unplayable(opened, force=force)
        replay = _replay(opened, chosen_window(opened, window))
    prepared = prepare_run(replace(request, patterns=[EXPERIMENT]), environment)
    plan = replace(prepared.plan, options=replace(prepared.plan.options, replay=replay))
    return replace(prepared, plan=plan)


def prepare_advice(
    trace: Path,
    request: RunRequest,
    environment: Mapping[str, str],
    *,
    window: int | None = None,
    force: bool = False,
    tell: Callable[[float], None] | None = None,
) -> Prepared | NothingToPool:
    """A subject for each call site, or group of call sites, that could have a pool or an arena.
    Problems and windows: as prepare_replay. tell: as read_contents."""
    with open_trace(trace) as opened:
        refuse_unplayable(opened, force=force)
        contents = read_contents(opened, tell)
        candidates, others = find_candidates(opened, contents)
        names = SiteNames(opened, contents, Symbols(opened.modules))
        refused = [f"{names.name(other.site)}: {other.reason}" for other in others]
        if not candidates:
            return NothingToPool(trace, refused)
        played = chosen_window(opened, window)
        replay = _replay(opened, played)
        # Threads that wait for one another spend processor time, too; one thread only works.
        quantity = "processor_time" if replay.threads == 1 else "time"
        replay = structs.replace(
            replay,
            without_pool=refused,
            quantity=quantity,
            candidates=[
                _pooled(opened, names, played, number, each)
                for number, each in enumerate(candidates, 1)
            ],
        )
    subjects = [MADE, *(candidate.subject for candidate in replay.candidates)]
    prepared = prepare_run(replace(request, patterns=[ADVICE], subjects=subjects), environment)
    titles = {
        each.subject: f"{each.place} with {POOL_NAMES[each.policy]}" for each in replay.candidates
    }
    experiments = [
        replace(
            experiment,
            subjects=[
                replace(spec, title=titles.get(spec.name, spec.title))
                for spec in experiment.subjects
            ],
        )
        for experiment in prepared.experiments
    ]
    plan = replace(prepared.plan, options=replace(prepared.plan.options, replay=replay))
    return replace(prepared, plan=plan, experiments=experiments)


def _pooled(
    trace: Trace, names: SiteNames, window: int | None, number: int, each: SiteCandidate
) -> PoolCandidate:
    place, *others = [names.name(site) for site in each.sites]
    node = names.node(each.sites[0]) if len(each.sites) == 1 else ""
    return PoolCandidate(
        f"candidate_{number}",
        place,
        each.block_size,
        each.blocks,
        each.policy,
        str(_script(trace, window, number, [each])),
        others,
        each.looks,
        node,
    )


def _sites(pools: Sequence[SiteCandidate]) -> list[str]:
    """As heapwise-script reads them."""
    return [f"{','.join(map(str, each.sites))}:{each.block_size}:{each.policy}" for each in pools]


def refuse_unplayable(trace: Trace, *, force: bool = False) -> None:
    """Problem E062, with the reason. ``force`` plays on other processors than were recorded."""
    if trace.sample_every:
        raise Problem(
            "E062",
            f"{trace.path} is a profile, so it cannot be played",
            why="It holds a sample of the calls.",
            do="record without --profile",
        )
    summary = trace.summary
    if summary is None:
        raise Problem(
            "E062",
            f"{trace.path} ends early, so it cannot be played",
            why=f"{trace.damage}.",
            do="record the program again, to its end",
        )
    if summary.pauses:
        raise Problem(
            "E062",
            f"{trace.path} was paused, so it cannot be played",
            why="Which blocks live after a pause is not known.",
            do="record it again without a pause",
        )
    if not summary.blocks:
        raise Problem(
            "E062",
            f"{trace.path} has no allocation to play",
            do="heapwise record --force says why none was seen",
        )
    here = len(usable_processors())
    known = trace.about.get("processors")
    recorded = known if isinstance(known, int) else here
    if summary.threads > 1 and here < min(recorded, summary.threads) and not force:
        raise Problem(
            "E062",
            f"{trace.path} was recorded on {recorded} processors, and here are {here}",
            why="Threads that ran side by side would take turns.",
            do="play it on a machine like that one, or --force",
        )


def chosen_window(trace: Trace, window: int | None) -> int | None:
    """None: the trace holds the whole run. Problem E062 if there is no such window."""
    events = [frame for frame in trace.frames if frame.kind is FrameKind.EVENTS and frame.count]
    numbers = sorted({frame.window for frame in events})
    if window is not None and window not in numbers:
        raise Problem(
            "E062",
            f"{trace.path} has no window {window}",
            why=f"It has {', '.join(map(str, numbers))}.",
        )
    if window is None and len(numbers) > 1:
        return max(events, key=lambda frame: frame.live_bytes).window
    return None if len(numbers) == 1 else window


SCRIPT_HEADER = struct.Struct("<11Q")
"""magic, threads, steps, shared slots, calls, blocks, bytes, peak live bytes, left blocks,
pooled sites, prepared blocks: see bench/player/script.hpp."""


def _replay(trace: Trace, window: int | None) -> Replay:
    summary = trace.summary
    assert summary is not None, "refuse_unplayable demands it"
    script = _script(trace, window)
    with script.open("rb") as file:
        _, threads, _, shared, calls, _, _, peak, _, _, prepared = SCRIPT_HEADER.unpack(
            file.read(SCRIPT_HEADER.size)
        )
    return Replay(
        str(trace.path.absolute()),
        str(script),
        trace.command,
        calls=calls,
        threads=threads,
        handed_over=shared - prepared,
        unknown_ends=summary.unknown_ends,
        missed_calls=summary.events_missed + summary.lost_ends,
        missed_threads=summary.threads_missed,
        other_processes=summary.other_processes,
        peak_live_bytes=summary.peak_live_bytes if window is None else 0,
        script_peak_live_bytes=peak,
        window=window,
        prepared=prepared,
    )


def _script(
    trace: Trace, window: int | None, number: int = 0, pools: Sequence[SiteCandidate] = ()
) -> Path:
    """The script of this window, in which the sites of ``pools`` have pools; made once, and found
    again by its contents. Scripts of one window have one name, and end with their numbers."""
    digest = hashlib.sha256()
    with trace.path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    digest.update(native_part(SCRIPT_MAKER).read_bytes())
    folder = data_folder() / "scripts"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    script = folder / f"{digest.hexdigest()[:32]}.{window or 0}.{number}"
    if pools or not script.exists():
        partial = folder / f"{script.name}.{os.getpid()}"
        maker = subprocess.run(
            [
                str(native_part(SCRIPT_MAKER)),
                str(trace.path),
                str(window or 0),
                repr(trace.ns_a_unit),
                str(partial),
                *_sites(pools),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if maker.returncode:
            partial.unlink(missing_ok=True)
            raise Problem("E062", f"{trace.path} cannot be played: {maker.stderr.strip()}")
        partial.rename(script)
    return script
