"""Does a peer, loaded into a process, keep malloc's promises there?"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals

import msgspec

from heapwise.catalog import PROBE, native_part
from heapwise.model import Identity, Library, Peer
from heapwise.runner.process.environment import preload
from heapwise.runner.process.identity import loader_refusal, read_lines, wrong_library
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.wording.durations import show_limit
from heapwise.wording.names import spaced

CHILD = Path(__file__).with_name("contract_child.py")
TIMEOUT_S = 60.0

TESTING = "testing "
"""So begins a line of the child before each promise."""


@dataclass(frozen=True)
class ContractResult:
    """``trouble`` is "" for a peer that was really loaded and keeps every promise."""

    peer: str
    trouble: str
    library: str = ""
    build_id: str = ""
    promises: dict[str, str] = field(default_factory=dict)
    """Name of each promise to what was wrong with it; "" when it was kept."""

    known: str = ""
    """What was wrong and was known of this peer."""


def check_peer(peer: Peer) -> ContractResult:
    """Starts a process with the peer preloaded. Problem E052 without the probe.

    The peer must be installed. Where malloc comes from is what the probe found inside: the
    process itself cannot tell when its program is not position independent.
    """
    with ScratchFolder() as folder:
        seen = folder / "probe"
        environment = peer.environment | {
            "PATH": "/usr/bin:/bin",
            "PYTHONMALLOC": "malloc",
            "HEAPWISE_PROBE_OUT": str(seen),
            "LD_PRELOAD": preload(peer.path or "", str(native_part(PROBE))),
        }
        try:
            answer = subprocess.run(
                [sys.executable, "-I", "-S", str(CHILD)],
                env=environment,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return ContractResult(peer.name, f"no answer after {show_limit(TIMEOUT_S)}")
        return _judge(peer, answer, read_lines(seen, Identity))


def _judge(
    peer: Peer, answer: subprocess.CompletedProcess[bytes], seen: list[Identity]
) -> ContractResult:
    library = (seen[0].malloc if seen else None) or Library()
    where = library.path or "", library.build_id or ""
    if refusal := loader_refusal(answer.stderr):
        return ContractResult(peer.name, refusal, *where)
    if wrong := wrong_library(seen, peer, set()):
        return ContractResult(peer.name, wrong, *where)
    if answer.returncode != 0:
        return ContractResult(peer.name, _ended(answer), *where)
    promises: dict[str, str] = msgspec.json.decode(answer.stdout)
    news = [text for name, text in promises.items() if text and name not in peer.known_faults]
    known = [text for name, text in promises.items() if text and name in peer.known_faults]
    return ContractResult(peer.name, "; ".join(news), *where, promises, "; ".join(known))


def _ended(answer: subprocess.CompletedProcess[bytes]) -> str:
    """``the process ended with SIGSEGV while it tested that calloc gives zeros``, and what it
    printed last."""
    words = answer.stderr.decode(errors="replace").strip().splitlines()
    tested = [word.removeprefix(TESTING) for word in words if word.startswith(TESTING)]
    others = [word for word in words if not word.startswith(TESTING)]
    code = answer.returncode
    how = Signals(-code).name if -code in set(Signals) else f"exit code {code}"
    where = f" while it tested that {spaced(tested[-1])}" if tested else ""
    said = f": {others[-1]}" if others else ""
    return f"the process ended with {how}{where}{said}"
