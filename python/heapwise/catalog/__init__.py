"""What there is to measure and to compare with: experiments, peers, and the native parts."""

from typing import TYPE_CHECKING

from heapwise.catalog.git import git
from heapwise.catalog.tree_output import tree_output
from heapwise.lazy import lazy_names

if TYPE_CHECKING:
    from heapwise.catalog.added import (
        PARTIAL,
        RECORD,
        AddedPeer,
        added_folder,
        data_folder,
        forget,
        library_of,
        packaged_folder,
        read_record,
    )
    from heapwise.catalog.build_quality import examined
    from heapwise.catalog.elf import ElfFacts, read_elf
    from heapwise.catalog.experiments import (
        broken_experiments,
        choose_experiments,
        describe,
        find_experiments,
    )
    from heapwise.catalog.git import refuses, repository_of, revision_of
    from heapwise.catalog.linked import C_LIBRARY, linked_allocator
    from heapwise.catalog.peer_file import LOGS, Declared, PeerBuild, read_declarations
    from heapwise.catalog.peers import (
        SYSTEM,
        adhoc_peer,
        choose_peers,
        find_peers,
        installed_peers,
        peer_prefixes,
        system_library,
        system_peer,
    )
    from heapwise.catalog.program_experiments import expected_output
    from heapwise.catalog.program_file import find_wheels
    from heapwise.catalog.program_wheels import PROGRAMS, ProgramWheels, forget_wheels
    from heapwise.catalog.published import choose_published, find_published
    from heapwise.catalog.tool_version import first_line
    from heapwise.catalog.tree_rows import (
        ADD,
        TREES,
        TreePrograms,
        TreeRecord,
        fingerprint,
        forget_trees,
        read_tree_record,
        read_trees,
        subject_specs,
        tuning_prefixes,
    )
    from heapwise.natives import (
        COUNTER,
        DRAIN,
        EMPTY,
        KNOWN,
        LAUNCHER,
        OUR_MALLOC,
        PROBE,
        PROFILER,
        RECORDER,
        SCRIPT_MAKER,
        TOY,
        build_fingerprint,
        native_folder,
        native_part,
    )

__all__ = [
    "ADD",
    "COUNTER",
    "C_LIBRARY",
    "DRAIN",
    "EMPTY",
    "KNOWN",
    "LAUNCHER",
    "LOGS",
    "OUR_MALLOC",
    "PARTIAL",
    "PROBE",
    "PROFILER",
    "PROGRAMS",
    "RECORD",
    "RECORDER",
    "SCRIPT_MAKER",
    "SYSTEM",
    "TOY",
    "TREES",
    "AddedPeer",
    "Declared",
    "ElfFacts",
    "PeerBuild",
    "ProgramWheels",
    "TreePrograms",
    "TreeRecord",
    "added_folder",
    "adhoc_peer",
    "broken_experiments",
    "build_fingerprint",
    "choose_experiments",
    "choose_peers",
    "choose_published",
    "data_folder",
    "describe",
    "examined",
    "expected_output",
    "find_experiments",
    "find_peers",
    "find_published",
    "find_wheels",
    "fingerprint",
    "first_line",
    "forget",
    "forget_trees",
    "forget_wheels",
    "git",
    "installed_peers",
    "library_of",
    "linked_allocator",
    "native_folder",
    "native_part",
    "packaged_folder",
    "peer_prefixes",
    "read_declarations",
    "read_elf",
    "read_record",
    "read_tree_record",
    "read_trees",
    "refuses",
    "repository_of",
    "revision_of",
    "subject_specs",
    "system_library",
    "system_peer",
    "tree_output",
    "tuning_prefixes",
]

__getattr__ = lazy_names(__name__, __file__)
