"""What can go wrong, once: each error has an id, a title, why it matters and what to do.

``heapwise explain E021`` prints an entry; the command line prints ``Problem`` as what, why, next.
Exit codes are those of ``docs/exit-codes.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    DONE = 0
    GATE_FAILED = 1
    BAD_USAGE = 2
    PROGRAM_FAILED = 3
    NOT_TRUSTWORTHY = 4
    MISSING_TOOL = 5
    OUR_BUG = 70
    INTERRUPTED = 130
    READER_GONE = 141


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue."""

    id: str
    title: str
    exit: Exit
    why: str
    do: str


class Problem(Exception):
    """An error that a user can act on. ``what`` is the sentence; the catalogue has the rest."""

    def __init__(self, id: str, what: str, *, why: str = "", do: str = "") -> None:
        super().__init__(what)
        entry = CATALOGUE[id]
        self.id = id
        self.what = what
        self.why = why or entry.why
        self.do = do or entry.do
        self.exit = entry.exit


def _entries(*entries: Entry) -> dict[str, Entry]:
    return {entry.id: entry for entry in entries}


CATALOGUE: dict[str, Entry] = _entries(
    Entry(
        "E001",
        "unknown experiment",
        Exit.BAD_USAGE,
        "The id or pattern names no experiment that is installed.",
        "heapwise list",
    ),
    Entry(
        "E002",
        "unknown allocator",
        Exit.BAD_USAGE,
        "The name is not a peer that Heapwise knows, and no path was given for it.",
        "heapwise peers list   or   --allocator name=/path/to/lib.so",
    ),
    Entry(
        "E003",
        "unknown or malformed option value",
        Exit.BAD_USAGE,
        "Nothing was started.",
        "heapwise VERB --help",
    ),
    Entry(
        "E004",
        "unknown run",
        Exit.BAD_USAGE,
        "The store holds no run with this id.",
        "heapwise report --list",
    ),
    Entry(
        "E005",
        "settings or store of another user",
        Exit.BAD_USAGE,
        "Another user who can change it could make Heapwise run other code with your rights.",
        "use a folder that belongs to you",
    ),
    Entry(
        "E006",
        "run in use",
        Exit.BAD_USAGE,
        "Two processes that measure one run would mix and disturb each other's samples.",
        "wait until it has ended, or stop it",
    ),
    Entry(
        "E007",
        "unknown published report",
        Exit.BAD_USAGE,
        "The name is not that of a report in published/ or in the user's data folder.",
        "heapwise reproduce",
    ),
    Entry(
        "E008",
        "published report damaged",
        Exit.BAD_USAGE,
        "Its file does not have the documented form, so no figure of it is shown.",
        "see docs/how-to/add-published-report.md",
    ),
    Entry(
        "E009",
        "unknown commit",
        Exit.BAD_USAGE,
        "The base is built from a commit, and git knows no commit of this name here.",
        "look for it with git log; in CI fetch the whole history (fetch-depth: 0)",
    ),
    Entry(
        "E010",
        "program not found",
        Exit.BAD_USAGE,
        "It is neither a file nor in a folder of PATH. Nothing was measured.",
        "give the path of a program, after --",
    ),
    Entry(
        "E011",
        "no such process to look at",
        Exit.BAD_USAGE,
        "Nothing was measured.",
        "look for it with: ps -e",
    ),
    Entry(
        "E012",
        "declaration or settings malformed",
        Exit.BAD_USAGE,
        "A file that somebody wrote for Heapwise does not have the documented form.",
        "correct the named line; docs/how-to says what such a file holds",
    ),
    Entry(
        "E013",
        "run cannot go on",
        Exit.BAD_USAGE,
        "What it was measured with is no longer here. Its samples are kept.",
        "begin a new run",
    ),
    Entry(
        "E014",
        "repository does not serve",
        Exit.BAD_USAGE,
        "Builds of other commits need a git repository that holds the program.",
        "cd to the repository of the program",
    ),
    Entry(
        "E015",
        "file of another form",
        Exit.BAD_USAGE,
        "It is not a file that this command reads. Nothing was measured or changed.",
        "heapwise VERB --help says which files it reads",
    ),
    Entry(
        "E020",
        "static program",
        Exit.BAD_USAGE,
        "A statically linked program has its malloc inside; nothing can be preloaded into it.",
        "link it dynamically, or relink it against the allocator",
    ),
    Entry(
        "E021",
        "own allocator inside",
        Exit.BAD_USAGE,
        "The program brings its own malloc. A preloaded library may take its place, or may not.",
        "build it without that feature, or measure it with --force; V1 says what was loaded",
    ),
    Entry(
        "E022",
        "setuid or file capabilities",
        Exit.BAD_USAGE,
        "The loader ignores LD_PRELOAD for programs that gain privileges when started.",
        "measure a copy without the privilege: cp PROGRAM /tmp/ and run the copy",
    ),
    Entry(
        "E023",
        "Go program",
        Exit.BAD_USAGE,
        "Go's runtime manages memory itself and never calls malloc.",
        "tune it with GOGC and GOMEMLIMIT instead; --force measures its C parts",
    ),
    Entry(
        "E024",
        "sanitizer inside",
        Exit.BAD_USAGE,
        "A sanitizer's runtime replaces malloc itself.",
        "build without -fsanitize, or --force",
    ),
    Entry(
        "E025",
        "other architecture",
        Exit.BAD_USAGE,
        "The program is built for another machine than the allocators here.",
        "build it for this machine",
    ),
    Entry(
        "E026",
        "not a program",
        Exit.BAD_USAGE,
        "The kernel starts only ELF programs, and scripts that name their interpreter. "
        "Nothing was measured.",
        "begin the script with a line such as #!/bin/sh, or give its interpreter first: sh FILE",
    ),
    Entry(
        "E027",
        "other C library",
        Exit.BAD_USAGE,
        "The allocators here are built for glibc and cannot be loaded into this program.",
        "build the program for glibc, or measure it in a system of its own C library",
    ),
    Entry(
        "E028",
        "program not recorded",
        Exit.BAD_USAGE,
        "The process became another program, and the recorder was not loaded into that one.",
        "record the program itself, without what starts it",
    ),
    Entry(
        "E029",
        "library cannot be preloaded",
        Exit.BAD_USAGE,
        "The loader of this machine takes shared libraries of its own architecture, by a path "
        "without spaces and colons.",
        "give the path of a library, like /usr/lib/libjemalloc.so.2",
    ),
    Entry(
        "E030",
        "program failed",
        Exit.PROGRAM_FAILED,
        "Nothing can be compared with a program that does not do its work.",
        "make it work first without heapwise",
    ),
    Entry(
        "E031",
        "output differed",
        Exit.PROGRAM_FAILED,
        "Under at least one allocator the program did other work than under the baseline.",
        "make the output repeatable, or --ignore-output if the difference is harmless",
    ),
    Entry(
        "E032",
        "program changed",
        Exit.PROGRAM_FAILED,
        "Figures of two different programs, inputs or libraries cannot be one result.",
        "begin a new run, or put the file back and heapwise resume",
    ),
    Entry(
        "E034",
        "command failed",
        Exit.PROGRAM_FAILED,
        "That command prepares what the program needs when it starts.",
        "run the command by itself first; it runs in the working folder, by /bin/sh",
    ),
    Entry(
        "E035",
        "load generator failed",
        Exit.PROGRAM_FAILED,
        "Without a load nothing can be said about the server.",
        "run the generator by itself against the server first; its last lines are above",
    ),
    Entry(
        "E040",
        "not trustworthy",
        Exit.NOT_TRUSTWORTHY,
        "A check that guards the figures failed, so they are not shown as a result.",
        "heapwise report says which and why; raw samples are kept",
    ),
    Entry(
        "E050",
        "store not writable",
        Exit.MISSING_TOOL,
        "Results cannot be saved, and a measurement that is not saved is lost.",
        "--store DIR or HEAPWISE_STORE with a folder that you may write",
    ),
    Entry(
        "E051",
        "disk full",
        Exit.MISSING_TOOL,
        "The last sample could not be written; all earlier ones are kept.",
        "make room, then heapwise resume",
    ),
    Entry(
        "E052",
        "native part missing",
        Exit.MISSING_TOOL,
        "The launcher or an experiment is not where it was installed.",
        "pip install --force-reinstall FILE.whl, with its wheel, or make setup in its sources",
    ),
    Entry(
        "E053",
        "peer not installed",
        Exit.MISSING_TOOL,
        "Its library was not found on this machine.",
        "heapwise peers list says how to get it",
    ),
    Entry(
        "E054",
        "build tool missing",
        Exit.MISSING_TOOL,
        "A peer is built from its sources here, and that needs a compiler and other build tools.",
        "install the named tools, then run the same command again",
    ),
    Entry(
        "E055",
        "peer could not be built",
        Exit.MISSING_TOOL,
        "A step of its build failed. Its files were removed, and an older build was kept.",
        "read the named log",
    ),
    Entry(
        "E056",
        "refused by the system",
        Exit.MISSING_TOOL,
        "A file, a permission or free space was missing. All samples so far are kept.",
        "correct the named cause; --debug shows where it happened",
    ),
    Entry(
        "E057",
        "build failed",
        Exit.PROGRAM_FAILED,
        "Without both builds there is nothing to compare.",
        "try --build-command by hand in a fresh git worktree",
    ),
    Entry(
        "E058",
        "no counter of instructions",
        Exit.MISSING_TOOL,
        "A limit on instructions needs the processor's counters or cachegrind.",
        "apt install valgrind, or leave out --limit instructions",
    ),
    Entry(
        "E059",
        "program cannot be linked again",
        Exit.BAD_USAGE,
        "--relink needs a build that calls the linker for the program, so that it can do the same "
        "link with another order of objects and with padding.",
        "name the program that the linker writes as --new, or leave out --relink",
    ),
    Entry(
        "E064",
        "fleet engine missing",
        Exit.MISSING_TOOL,
        "A fleet is driven by Dask, which is an optional part.",
        "pip install 'heapwise[fleet]'",
    ),
    Entry(
        "E065",
        "machine of a fleet failed",
        Exit.PROGRAM_FAILED,
        "The named machines have no complete result. Their samples are kept.",
        "heapwise fleet collect RUN tries them again",
    ),
    Entry(
        "E060",
        "result of a newer version",
        Exit.BAD_USAGE,
        "The run was written with a schema that this version does not know.",
        "update heapwise",
    ),
    Entry(
        "E061",
        "run damaged",
        Exit.BAD_USAGE,
        "run.json cannot be read. Nothing was changed.",
        "restore it from a copy; samples.jsonl beside it still has every number",
    ),
    Entry(
        "E062",
        "trace not readable",
        Exit.BAD_USAGE,
        "The file is not a trace, its beginning is damaged, or a newer version wrote it.",
        "heapwise record -o FILE.hwt -- PROGRAM writes a new one",
    ),
    Entry(
        "E070",
        "internal error",
        Exit.OUR_BUG,
        "This is a bug in Heapwise, not your mistake. Stored runs are unchanged.",
        "run again with --debug and report what it prints",
    ),
    Entry(
        "W001",
        "peer missing",
        Exit.DONE,
        "The comparison goes on without it.",
        "heapwise peers list",
    ),
    Entry(
        "W002",
        "damaged sample line",
        Exit.DONE,
        "A line of samples.jsonl cannot be read; it was skipped and the file left as it is.",
        "nothing to do, if the count is small",
    ),
    Entry(
        "W007",
        "hardware counters are off",
        Exit.DONE,
        "Time and memory are not affected.",
        "nothing to do on a virtual machine",
    ),
)
