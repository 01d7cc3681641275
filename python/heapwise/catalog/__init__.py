"""What there is to measure and to compare with: experiments, peers, and the native parts."""

from heapwise.catalog.elf import ElfFacts, read_elf
from heapwise.catalog.experiments import broken_experiments, choose_experiments, find_experiments
from heapwise.catalog.native import COUNTER, LAUNCHER, PROBE, native_folder, native_part
from heapwise.catalog.peers import (
    SYSTEM,
    adhoc_peer,
    choose_peers,
    find_peers,
    installed_peers,
    system_library,
)

__all__ = [
    "COUNTER", "LAUNCHER", "PROBE", "SYSTEM", "ElfFacts", "adhoc_peer", "broken_experiments",
    "choose_experiments", "choose_peers", "find_experiments", "find_peers", "installed_peers",
    "native_folder", "native_part", "read_elf", "system_library",
]
