"""Locks of the loader: other threads hold them while the constructor of a plug-in runs, or while a
process is forked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.catalog import COUNTER, native_part

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
