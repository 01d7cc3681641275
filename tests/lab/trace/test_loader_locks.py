"""Locks of the loader: other threads hold them while the constructor of a plug-in runs, or while a
process is forked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.catalog import COUNTER, native_part
from heapwise.trace import open_trace

PLUGIN = """
#include <string>
#include <thread>
static unsigned long made = [] {
  unsigned long length = 0;
  std::thread other([&] { length = std::string(1000, 'x').size(); });
  other.join();
  return length;
}();
extern "C" unsigned long answer() { return made; }
"""
HOST = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** words) {
  void* const plugin = dlopen(words[count - 1], RTLD_NOW);
  if (plugin == NULL) return 1;
  return ((unsigned long (*)(void))dlsym(plugin, "answer"))() != 1000;
}
"""
ASKS = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).answer() != 1000)"
CROWD = """
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int ends;
static void* work(void* none) {
  while (!ends) { void* volatile block = malloc(100000); free(block); }
  return none;
}
static int ends_soon(pid_t child) {
  for (int i = 0; i < 5000; ++i) {
    if (waitpid(child, 0, WNOHANG) == child) return 1;
    usleep(1000);
  }
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  return 0;
}
int main(void) {
  pthread_t others[2];
  int hung = 0;
  for (int i = 0; i < 2; ++i) pthread_create(others + i, 0, work, 0);
  for (int i = 0; i < 300 && !hung; ++i) {
    const pid_t child = fork();
    if (child == 0) { void* volatile block = malloc(100); free(block); _exit(0); }
    hung = !ends_soon(child);
  }
  ends = 1;
  for (int i = 0; i < 2; ++i) pthread_join(others[i], 0);
  return hung;
}
"""

VISITOR = """
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void use(void) { void* volatile block = malloc(100000); free(block); }
static int stay(struct dl_phdr_info* object, size_t bytes, void* none) {
  (void)object, (void)bytes, (void)none;
  usleep(1000000);
  return 1;
}
static void* visit(void* none) { dl_iterate_phdr(stay, 0); return none; }
static void* wait_for_visit(void* none) { use(); return none; }
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, visit, 0);
  usleep(200000);
  pthread_create(&second, 0, wait_for_visit, 0);
  usleep(200000);
  const pid_t child = fork();
  if (child == 0) { alarm(20); use(); _exit(0); }
  int status = 1;
  waitpid(child, &status, 0);
  pthread_join(second, 0);
  pthread_join(first, 0);
  return status != 0;
}
"""


def compiled(folder: Path, source: str, name: str, *flags: str) -> Path:
    compiler = ["cc", "-xc"] if "-xc" in flags else ["c++", "-xc++"]
    words = [*compiler, "-", "-O1", "-pthread", "-o", name, *(f for f in flags if f != "-xc")]
    subprocess.run(words, input=source, text=True, cwd=folder, check=True)
    return folder / name


def recorded(trace: Path, *words: str | Path) -> str:
    done = subprocess.run(
        [*(sys.executable, "-m", "heapwise", "record"), "-o", trace, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("host", ["C", "C++", "Python"])
@pytest.mark.parametrize("how", ["record", "count"])
def test_a_constructor_of_a_plugin_waits_for_a_thread(tmp_path: Path, host: str, how: str) -> None:
    """The thread calls operators of C++ first while ``dlopen`` holds the loader's lock."""
    plugin = compiled(tmp_path, PLUGIN, "plugin.so", "-shared", "-fPIC")
    words: list[str | Path] = [sys.executable, "-c", ASKS]
    if host != "Python":
        words = [compiled(tmp_path, HOST, "host", *(["-xc"] if host == "C" else []))]
    words.append(plugin)
    if how == "record":
        recorded(tmp_path / "p.hwt", "--", *words)
    else:
        preloaded = {**os.environ, "LD_PRELOAD": str(native_part(COUNTER))}
        subprocess.run(words, env=preloaded, timeout=60, check=True)


@pytest.mark.parametrize("how", ["--stacks 16", "--profile --sample-every 1k"])
def test_a_process_forks_while_others_look_at_the_loaded_objects(tmp_path: Path, how: str) -> None:
    """For each stack the recorder asks how many there are, under a lock of the loader that the
    child would find held."""
    program = compiled(tmp_path, CROWD, "crowd", "-xc")
    said = recorded(tmp_path / "c.hwt", *how.split(), "--follow", "--", program)
    assert "Followed 300 children" in said


@pytest.mark.parametrize("how", ["--stacks 16", "--profile --sample-every 1k"])
def test_a_process_forks_while_a_visitor_of_its_own_stays(tmp_path: Path, how: str) -> None:
    """The recorder waits for it in another thread, and then in the fork, but not for ever. The
    child has from its parent what is mapped where."""
    program = compiled(tmp_path, VISITOR, "visitor", "-xc")
    recorded(tmp_path / "v.hwt", *how.split(), "--follow", "--", program)
    (child,) = tmp_path.glob("v.*.hwt")
    with open_trace(child) as trace:
        assert [int(size) for events in trace.events() for size in events.size].count(100_000) == 1
        assert "/visitor\n" in trace.modules.maps
