"""What there is to measure and to compare with: experiments, peers, and the native parts."""

from heapwise.catalog.added import PARTIAL, RECORD, Record, added_folder, forget, read_record
from heapwise.catalog.elf import ElfFacts, read_elf
from heapwise.catalog.experiments import broken_experiments, choose_experiments, find_experiments
from heapwise.catalog.native import COUNTER, LAUNCHER, PROBE, native_folder, native_part
from heapwise.catalog.peer_file import Build, Declared, read_declarations
from heapwise.catalog.peers import (
    SYSTEM,
    adhoc_peer,
    choose_peers,
    find_peers,
    installed_peers,
    system_library,
)

__all__ = [
    "COUNTER", "LAUNCHER", "PARTIAL", "PROBE", "RECORD", "SYSTEM", "Build", "Declared", "ElfFacts",
    "Record", "added_folder", "adhoc_peer", "broken_experiments", "choose_experiments",
    "choose_peers", "find_experiments", "find_peers", "forget", "installed_peers", "native_folder",
    "native_part", "read_declarations", "read_elf", "read_record", "system_library",
]
