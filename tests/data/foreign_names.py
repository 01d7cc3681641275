"""What the libraries ask other libraries for, and why each of these may belong to anybody.

A function of the C library may be taken by a library that allocates in there, waits for a lock, or
uses thread-local variables of its own. The heap and the collector must not call such a function
while they hold a lock that an allocation takes, in a thread without a C library, or while threads
stand still (docs/design/heap.md#system-calls). A new name needs a reason here.
"""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

LEAF = "compilers emit calls of it anywhere; what replaces it touches its arguments alone"
LOADER = "the linker asks for it; it is weak, and called by the loader or by nobody"
DATA = "it is data"
SANITIZER = "weak: only the runtime of a sanitizer has it, and has to be told"
CPP = "weak: only a program in C++ has it; called by operator new, without a lock"
RUNTIME = "called for an operator new without memory, to find the C++ runtime, without a lock"
BEFORE = "called when the library is loaded, or before the first lock is taken"
END = "ends the process"
OUTSIDE = "called when a thread starts to use the heap or ends, without a lock"

COMMON = {
    "_ITM_deregisterTMCloneTable": LOADER,
    "_ITM_registerTMCloneTable": LOADER,
    "__cxa_finalize": LOADER,
    "__gmon_start__": LOADER,
    "__libc_single_threaded": DATA,
    "__environ": DATA,
    "environ": DATA,
    "__interceptor_mmap": SANITIZER,
    "__interceptor_munmap": SANITIZER,
    "__msan_init": SANITIZER,
    "__tsan_init": SANITIZER,
    "__cxa_atexit": "called when the heap or the collector has started, without a lock",
    "__errno_location": "a register and an addition; only errno's own library can know the place",
    "__register_atfork": BEFORE,
    "abort": END,
    "dladdr": "weak; called when the library is loaded, and to report, without a lock",
    "getauxval": "reads what the kernel wrote; in the start of the heap, which answers ENOMEM if "
    "it is entered again",
    "memchr": LEAF,
    "memcmp": LEAF,
    "memcpy": LEAF,
    "memmove": LEAF,
    "memset": LEAF,
    "strlen": LEAF,
    "pthread_key_create": BEFORE,
    "pthread_setspecific": OUTSIDE,
    "sigaction": "the handler of faults, or of stops, is installed once, in the start; a start "
    "that is entered again answers ENOMEM",
}
HEAP = COMMON | {
    "_ZSt15get_new_handlerv": CPP,
    "_ZSt17__throw_bad_allocv": CPP,
    "__cxa_begin_catch": CPP,
    "__cxa_end_catch": CPP,
    "__gxx_personality_v0": CPP,
    "_IO_list_lock": "weak; called before a fork, before the heap takes its locks",
    "_IO_list_resetlock": "weak; called in the child of a fork, after the heap's locks are free",
    "_IO_list_unlock": "weak; called after a fork, after the heap's locks are free",
    "dladdr1": RUNTIME,
    "dlclose": RUNTIME,
    "dlsym": "called when the library is loaded, by the first dlopen, and for operator new "
    "without memory: each time without a lock",
    "fprintf": "malloc_info writes to the stream that it was given, without a lock",
    "sigemptyset": LEAF,
    "sigfillset": LEAF,
}
COLLECTOR = COMMON | {
    "__libc_current_sigrtmax": "two numbers of the C library",
    "__libc_current_sigrtmin": "two numbers of the C library",
    "dl_iterate_phdr": "its lock is what it is called for. It is also called while threads stand "
    "still: what replaces it must not allocate then",
    "dlsym": "weak; called before the first lock is taken",
    "pthread_attr_destroy": "called without a lock",
    "pthread_attr_getstack": "called without a lock",
    "pthread_attr_init": "called without a lock",
    "pthread_attr_setdetachstate": "markers are started before the first collection",
    "pthread_attr_setstacksize": "markers are started before the first collection",
    "pthread_create": "markers are started before the first collection",
    "pthread_getattr_np": "called without a lock",
    "pthread_getspecific": "reads the descriptor of its thread, also in the handler of stops",
    "pthread_self": "reads a register",
    "pthread_sigmask": "markers are started before the first collection",
    "sigfillset": LEAF,
}

# Nobody can replace these by a function that does more: see their reasons. `dlsym` is what an
# interceptor itself uses.
NOT_REPLACED = {LEAF, LOADER, DATA, SANITIZER, CPP, END}
NOT_REPLACED_NAMES = {
    "__errno_location",
    "pthread_self",
    "pthread_getspecific",
    "dlsym",
    "dl_iterate_phdr",
}

# What the libraries called once, and must not call.
SYSTEM_CALLS = (
    "clock_gettime",
    "clock_nanosleep",
    "clone",
    "__clone",
    "getpid",
    "getrandom",
    "getrlimit",
    "gettid",
    "kill",
    "madvise",
    "mincore",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "open",
    "personality",
    "prctl",
    "sched_getaffinity",
    "sched_getcpu",
    "sched_setaffinity",
    "syscall",
    "sysconf",
    "waitid",
    "write",
)


def undefined(library: Path) -> set[str]:
    """The names that the library asks other libraries for."""
    with library.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        return {
            symbol.name
            for symbol in symbols.iter_symbols()
            if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name
        }


def replaceable(names: dict[str, str]) -> set[str]:
    """Those of the names that a library may take, and the system calls."""
    taken = {
        name
        for name, reason in names.items()
        if reason not in NOT_REPLACED and name not in NOT_REPLACED_NAMES
    }
    return taken | set(SYSTEM_CALLS)
