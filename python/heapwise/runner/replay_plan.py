"""From a trace to a run that plays it under every allocator."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from heapwise.catalog import SCRIPT_MAKER, data_folder, native_part
from heapwise.errors import Problem
from heapwise.model import PoolCandidate, Replay
from heapwise.runner.compare_plan import Prepared
from heapwise.runner.experiment_plan import RunRequest, prepare_run
from heapwise.trace import Trace, open_trace
from heapwise.trace.candidates import Candidate, find_candidates
from heapwise.trace.contents import read_contents
from heapwise.trace.symbols import Symbols

EXPERIMENT, ADVICE = "trace/replay", "trace/advice"

MADE = "as_recorded"
"""The subject of ADVICE in which no site has a pool."""


def prepare_replay(trace: Path, request: RunRequest, environment: Mapping[str, str], *,
                   force: bool = False) -> Prepared:
    """Problems: E062 for a trace that cannot be read or cannot be played, and those of ``run``."""
    with open_trace(trace) as opened:
        refuse_unplayable(opened, force=force)
        script = _script(opened)
        replay = _replay(opened, script)
    prepared = prepare_run(replace(request, patterns=[EXPERIMENT]), environment)
    plan = replace(prepared.plan, options=structs.replace(prepared.plan.options, replay=replay))
    return replace(prepared, plan=plan)


def prepare_advice(trace: Path, request: RunRequest, environment: Mapping[str, str], *,
                   force: bool = False) -> Prepared:
    """A subject for each call site that could have a pool. Problems: as prepare_replay, and E062 if
    no site could."""
    with open_trace(trace) as opened:
        refuse_unplayable(opened, force=force)
        candidates, others = find_candidates(opened, read_contents(opened))
        symbols = Symbols(opened.modules.maps)
        refused = [f"{_place(opened, symbols, other.site)}: {other.reason}" for other in others]
        if not candidates:
            raise _nothing_to_pool(opened, refused)
        replay = structs.replace(
            _replay(opened, _script(opened)), without_pool=refused,
            candidates=[_pooled(opened, symbols, number, each)
                        for number, each in enumerate(candidates, 1)])
    names = [MADE, *(candidate.subject for candidate in replay.candidates)]
    prepared = prepare_run(replace(request, patterns=[ADVICE], subjects=names), environment)
    titles = {each.subject: f"{each.place} with a pool" for each in replay.candidates}
    experiments = [replace(experiment, subjects=[
        replace(spec, title=titles.get(spec.name, spec.title)) for spec in experiment.subjects])
        for experiment in prepared.experiments]
    plan = replace(prepared.plan, options=structs.replace(prepared.plan.options, replay=replay))
    return replace(prepared, plan=plan, experiments=experiments)


def _nothing_to_pool(trace: Trace, refused: list[str]) -> Problem:
    why = f"{'; '.join(refused[:3])}." if refused else "No call site makes many blocks."
    return Problem("E062", f"{trace.path}: no call site could have a pool", why=why,
                   do="heapwise replay plays it under other allocators")


def _pooled(trace: Trace, symbols: Symbols, number: int, each: Candidate) -> PoolCandidate:
    return PoolCandidate(
        f"candidate_{number}", _place(trace, symbols, each.site), each.block_size, each.blocks,
        each.policy, str(_script(trace, number, [each])))


def _place(trace: Trace, symbols: Symbols, site: int) -> str:
    address = trace.site_address(site)
    return str(symbols.place(address)) if address is not None else f"site {site}"


def _sites(pools: Sequence[Candidate]) -> list[str]:
    """As heapwise-script reads them."""
    return [f"{each.site}:{each.block_size}:{each.policy}" for each in pools]


def refuse_unplayable(trace: Trace, *, force: bool = False) -> None:
    """Problem E062, with the reason. ``force`` plays on other processors than were recorded."""
    summary = trace.summary
    if summary is None:
        raise Problem("E062", f"{trace.path} ends early, so it cannot be played",
                      why=f"{trace.damage}.", do="record the program again, to its end")
    if summary.kept_events < summary.events:
        raise Problem("E062", f"{trace.path} holds {summary.windows} windows of the run, not all",
                      why="A replay of parts begins without the holes that earlier frees left.",
                      do="record it again with a larger --max-size")
    if not summary.blocks:
        raise Problem("E062", f"{trace.path} has no allocation to play",
                      do="heapwise record --force says why none was seen")
    here = len(os.sched_getaffinity(0))
    recorded = int(trace.about.get("processors", here))
    if summary.threads > 1 and here < min(recorded, summary.threads) and not force:
        raise Problem("E062", f"{trace.path} was recorded on {recorded} processors, "
                      f"and here are {here}",
                      why="Threads that ran side by side would take turns.",
                      do="play it on a machine like that one, or --force")


SCRIPT_HEADER = struct.Struct("<10Q")
"""magic, threads, steps, shared slots, calls, blocks, bytes, peak live bytes, left blocks,
pooled sites: see bench/player/script.hpp."""


def _replay(trace: Trace, script: Path) -> Replay:
    summary = trace.summary
    assert summary is not None, "refuse_unplayable demands it"
    with script.open("rb") as file:
        _, _, _, shared, calls, _, _, peak, _, _ = SCRIPT_HEADER.unpack(
            file.read(SCRIPT_HEADER.size))
    return Replay(
        str(trace.path.absolute()), str(script), list(trace.about.get("command", [])),
        calls=calls, threads=summary.threads, handed_over=shared,
        unknown_ends=summary.unknown_ends, missed_calls=summary.events_missed + summary.lost_ends,
        missed_threads=summary.threads_missed, other_processes=summary.other_processes,
        peak_live_bytes=summary.peak_live_bytes, script_peak_live_bytes=peak)


def _script(trace: Trace, number: int = 0, pools: Sequence[Candidate] = ()) -> Path:
    """The script of this trace, in which the sites of ``pools`` have pools; made once, and found
    again by its contents. Scripts of one trace have one name, and end with their numbers."""
    digest = hashlib.sha256()
    with trace.path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    digest.update(native_part(SCRIPT_MAKER).read_bytes())
    folder = data_folder() / "scripts"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    script = folder / f"{digest.hexdigest()[:32]}.{number}"
    if pools or not script.exists():
        partial = folder / f"{script.name}.{os.getpid()}"
        made = subprocess.run([str(native_part(SCRIPT_MAKER)), str(trace.path),
                               repr(trace.ns_a_unit), str(partial), *_sites(pools)],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            partial.unlink(missing_ok=True)
            raise Problem("E062", f"{trace.path} cannot be played: {made.stderr.strip()}")
        partial.rename(script)
    return script
