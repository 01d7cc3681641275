"""Calls from places where a recorder has little room, or where half of them cannot reach it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.catalog import PROFILER, RECORDER, native_part
from heapwise.trace import open_trace

HANDLER = """
#include <signal.h>
#include <stdlib.h>
static char stack[SIZE];
static void handle(int signal) { (void)signal; void* volatile block = malloc(4321); free(block); }
int main(void) {
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  sigaltstack(&own, 0);
  sigaction(SIGUSR1, &action, 0);
  return raise(SIGUSR1);
}
"""
OPENS = """
#define _GNU_SOURCE
#include <dlfcn.h>
int main(int count, char** words) {
  void* library = dlopen(words[count - 1], RTLD_NOW | RTLD_DEEPBIND);
  return library ? ((int (*)(void))dlsym(library, "work"))() : 1;
}
"""
COPIES = """
#include <stdlib.h>
#include <string.h>
int work(void) {
  for (int k = 0; k < 1000; ++k) { char* volatile copy = strdup("abc"); free(copy); }
  return 0;
}
"""

TABLES = """
#include <stdint.h>
void __register_frame(void*);
const void* _Unwind_Find_FDE(void*, void*);
static char code[64]; /* as a compiler makes it at run time */
struct __attribute__((packed)) function {
  uint32_t bytes, to_common;
  uint64_t begin, size;
  uint8_t rest[4];
};
static struct __attribute__((packed)) {
  uint32_t bytes, id;
  uint8_t common[16];
  struct function functions[64];
  uint32_t end;
} tables = {20, 0, {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0C, 7, 8, 0x90, 1}, {}, 0};
int main(void) {
  for (int i = 0; i < 64; ++i) {
    struct function* each = tables.functions + i;
    const uint32_t to_common = (uint32_t)((char*)&each->to_common - (char*)&tables);
    *each = (struct function){24, to_common, (uint64_t)(code + i), 1, {0}};
  }
  void* bases[3];
  __register_frame(&tables);
  return _Unwind_Find_FDE(code + 10, bases) != &tables.functions[10];
}
"""

ANSWERS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* Libraries that answer for the kernel look up the function that each of theirs replaces. */
#define LOOKS_UP(name, answer) \\
  long own_##name(void) __asm__(#name); \\
  long own_##name(void) { dlsym(RTLD_NEXT, "nobody has it"); return answer; }
LOOKS_UP(getpid, syscall(SYS_getpid)) LOOKS_UP(nanosleep, -1) LOOKS_UP(fstat, -1)
LOOKS_UP(open, -1) LOOKS_UP(readlink, -1) LOOKS_UP(mincore, -1)
int main(void) {
  int status = 1;
  dlsym(RTLD_DEFAULT, "nobody has this");
  const pid_t child = fork();
  if (child == 0) {
    dlsym(RTLD_DEFAULT, "nobody has that"); /* frees the text of the error before */
    _exit(0);
  }
  return waitpid(child, &status, 0) != child || status != 0;
}
"""
FIRST_IN_VFORK = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile kept;
static void make(size_t size) {
  for (int i = 0; i < 20000; ++i) { kept = malloc(size); free(kept); }
}
static void* begin_in_child(void* none) {
  const pid_t child = vfork();
  if (child == 0) { kept = malloc(11); _exit(0); }
  waitpid(child, 0, 0);
  usleep(400000); /* the drain sees that the child has ended */
  make(5555);
  return none;
}
static void* begin_later(void* none) { make(6666); return none; }
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, begin_in_child, 0);
  usleep(300000);
  pthread_create(&second, 0, begin_later, 0);
  pthread_join(second, 0);
  pthread_join(first, 0);
  return 0;
}
"""
OPENS_NOTHING = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void* work(void* none) {
  for (int i = 0; i < 2000; ++i) { void* volatile block = malloc(4321); free(block); }
  return none;
}
static void forbid(int call) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog filter = {4, steps};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
int main(int count, char** words) {
  work(0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  forbid(SYS_openat);
  forbid(SYS_newfstatat);
  forbid(SYS_readlinkat);
  if (count > 1) {
    pthread_t other;
    return pthread_create(&other, 0, work, 0) != 0 || pthread_join(other, 0) != 0;
  }
  const pid_t child = fork();
  if (child == 0) { work(0); _exit(0); }
  int status = 1;
  return waitpid(child, &status, 0) != child || status != 0;
}
"""
AT_END = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void end(void* size) {
  char left[8192]; /* where the interpreter's frames of C were */
  memset(left, (size_t)size % 2 ? 0x40 : 0, sizeof left);
  if ((size_t)size % 2 == 0) for (size_t i = 0; i < sizeof left; i += 8) left[i] = 8;
  __asm__ volatile("" : : "r"(left) : "memory");
  void* volatile block = malloc((size_t)size);
  free(block);
}
int __cxa_thread_atexit_impl(void (*)(void*), void*, void*); /* as for a thread_local of C++ */
void leave(size_t size) {
  static char here;
  __cxa_thread_atexit_impl(end, (void*)size, &here);
  pthread_exit(0);
}
"""
ENDS_INSIDE = """
import _thread, ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
begun = []
def work(depth):
    if depth:
        return work(depth - 1)
    begun.append(depth)
    library.leave(ctypes.c_size_t(4321 + len(begun) % 2))
for depth in range(20):
    _thread.start_new_thread(work, (depth,))
while len(begun) < 20:
    time.sleep(0.01)
time.sleep(0.2)
"""


def compiled(folder: Path, source: str, name: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-O1", "-o", name, *flags, f"{name}.c"], cwd=folder, check=True)
    return folder / name


def record(trace: Path, *words: str | Path) -> str:
    done = subprocess.run(
        [*(sys.executable, "-m", "heapwise", "record"), "-o", trace, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("size", [8192, 12_000, 65_536])
def test_a_handler_on_a_small_stack_of_its_own(tmp_path: Path, size: int) -> None:
    """A stack of 8 KiB, once SIGSTKSZ, has no room for the unwinder."""
    program = compiled(tmp_path, HANDLER, "handler", f"-DSIZE={size}")
    if subprocess.run([program], check=False).returncode != 0:
        pytest.skip("the frame of a signal is too large for this stack here")
    record(tmp_path / "h.hwt", "--stacks", "all", "--", program)
    with open_trace(tmp_path / "h.hwt") as trace:
        assert 4321 in [int(size) for events in trace.events() for size in events.size]


@pytest.mark.parametrize("how", ["--stacks all", "--profile --sample-every 64"])
def test_libgcc_allocates_under_the_lock_of_its_tables(tmp_path: Path, how: str) -> None:
    """It sorts tables of code that was made at run time when an exception first asks for them."""
    program = compiled(tmp_path, TABLES, "tables")
    record(tmp_path / "t.hwt", *how.split(), "--", program)
    with open_trace(tmp_path / "t.hwt") as trace:
        assert sum(len(events.size) for events in trace.events()) > 2


def test_frees_that_do_not_reach_the_recorder_are_told(tmp_path: Path) -> None:
    """``strdup`` of the C library calls malloc by its name, and the library that was bound deeply
    frees without the recorder."""
    program = compiled(tmp_path, OPENS, "opens")
    library = compiled(tmp_path, COPIES, "copies.so", "-shared", "-fPIC")
    said = record(tmp_path / "d.hwt", "--", program, library)
    assert "Missed   the end of 999 blocks" in said
    with open_trace(tmp_path / "d.hwt") as trace:
        assert trace.summary is not None
        assert trace.summary.end_live_bytes < 4000 + 4096
        assert trace.summary.peak_live_bytes < 8192


def test_the_recorder_asks_no_function_that_the_program_may_have_replaced(tmp_path: Path) -> None:
    """A look-up inside of a call of ``free`` that is part of another look-up would free the same
    text again."""
    flags = ("-rdynamic", "-fno-builtin", "-w")
    program = compiled(tmp_path, ANSWERS, "answers", *flags)
    record(tmp_path / "a.hwt", "--follow", "--", program)


@pytest.mark.parametrize("library", [RECORDER, PROFILER])
def test_a_library_that_stands_before_malloc_imports_no_call_of_the_kernel(library: str) -> None:
    """What is left is called by ``exec``, and to say why the program has to end."""
    done = subprocess.run(
        ["nm", "-D", "--undefined-only", "--format=just-symbols", native_part(library)],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.split("@")[0] for line in done.stdout.split()}
    assert "dl_iterate_phdr" in imported
    calls = "open openat close read pread fstat stat fstatat access readlink readlinkat write"
    calls += " mmap munmap mremap madvise mincore kill getpid getppid gettid nanosleep usleep poll"
    calls += " clock_gettime gettimeofday time syscall fcntl ioctl sched_yield getrandom prctl"
    assert imported & set(calls.split()) <= {"access", "readlink", "write"}


@pytest.mark.parametrize("how", ["--stacks all", "--profile --sample-every 64"])
def test_a_thread_of_python_that_ends_inside_of_the_interpreter(tmp_path: Path, how: str) -> None:
    """What is called at its end may allocate, and the frames are gone."""
    library = compiled(tmp_path, AT_END, "end.so", "-shared", "-fPIC", "-pthread")
    record(tmp_path / "e.hwt", *how.split(), "--", sys.executable, "-c", ENDS_INSIDE, library)
    with open_trace(tmp_path / "e.hwt") as trace:
        assert 4321 in [int(size) for events in trace.events() for size in events.size]


def test_a_thread_allocates_first_in_its_child_of_vfork(tmp_path: Path) -> None:
    """The child has the memory of the thread, but another number. No other thread may get the ring
    of the thread when the child has ended."""
    program = compiled(tmp_path, FIRST_IN_VFORK, "vfork", "-pthread")
    said = record(tmp_path / "v.hwt", "--", program)
    assert "Missed   0 threads, 1 call\n" in said
    with open_trace(tmp_path / "v.hwt") as trace:
        sizes = [int(size) for events in trace.events() for size in events.size]
    assert (sizes.count(5555), sizes.count(6666)) == (20_000, 20_000)


def test_a_thread_begins_under_a_filter_that_ends_who_opens_a_file(tmp_path: Path) -> None:
    program = compiled(tmp_path, OPENS_NOTHING, "filtered", "-pthread")
    record(tmp_path / "t.hwt", "--stacks", "16:frames", "--", program, "thread")
    with open_trace(tmp_path / "t.hwt") as trace:
        assert [int(n) for events in trace.events() for n in events.size].count(4321) == 4000


@pytest.mark.parametrize("how", ["", "--profile --sample-every 64"])
def test_a_child_begins_under_a_filter_that_ends_who_opens_a_file(tmp_path: Path, how: str) -> None:
    """What is mapped where, the child has from its parent."""
    program = compiled(tmp_path, OPENS_NOTHING, "filtered")
    record(tmp_path / "f.hwt", *how.split(), "--follow", "--", program)
    (child,) = tmp_path.glob("f.*.hwt")
    with open_trace(child) as trace:
        assert [int(n) for events in trace.events() for n in events.size].count(4321) >= 1900
        assert "/filtered\n" in trace.modules.maps
