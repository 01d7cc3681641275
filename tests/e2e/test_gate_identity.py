"""A gate never says "fine" of a program whose changed part lies beside its file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

HOST = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
  char path[4096];
  snprintf(path, sizeof path, "%s", words[0]);
  strcpy(strrchr(path, '/'), "/work.so");
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) return 1;
  void (*work)(void) = (void (*)(void))dlsym(library, "work");
  work();
  puts("done");
  return count - count;
}
"""
PLUGIN = """
#include <stdlib.h>
void work(void) {
  for (int block = 0; block < BLOCKS; ++block) {
    void* volatile memory = malloc(64);
    free(memory);
  }
}
"""


def verdicts(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.stdout, done.stderr
    return [row["verdict"] for row in json.loads(done.stdout)["gate"]["rows"]]


def test_a_plug_in_that_allocates_more_is_found(heapwise: Any, tmp_path: Path) -> None:
    (tmp_path / "host.c").write_text(HOST)
    (tmp_path / "work.c").write_text(PLUGIN)
    for tree, blocks in (("old", 100), ("new", 120)):
        (tmp_path / tree).mkdir()
        subprocess.run(
            [
                "cc",
                "-O1",
                f"-DBLOCKS={blocks}",
                "-shared",
                "-fPIC",
                "-o",
                f"{tree}/work.so",
                "work.c",
            ],
            cwd=tmp_path,
            check=True,
        )
    subprocess.run(["cc", "-O1", "-o", "old/app", "host.c"], cwd=tmp_path, check=True)
    shutil.copy(tmp_path / "old" / "app", tmp_path / "new" / "app")
    done = heapwise(
        "gate", "--base", "old/app", "--new", "new/app", "--limit", "allocations=0", "--json"
    )
    assert verdicts(done) == ["regressed"]


def test_a_library_of_a_virtual_environment_that_allocates_more_is_found(
    heapwise: Any, tmp_path: Path
) -> None:
    """Both interpreters are links to one file."""
    python = Path(sys.executable).resolve()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "bench.py").write_text("import part\npart.work()\n")
    for tree, blocks in (("old", 1_000), ("new", 3_000)):
        packages = tmp_path / tree / "lib" / version / "site-packages"
        packages.mkdir(parents=True)
        (tmp_path / tree / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
        (tmp_path / tree / "bin").mkdir()
        (tmp_path / tree / "bin" / "python").symlink_to(python)
        (packages / "part.py").write_text(
            f"def work():\n    return [bytes(1000 + n) for n in range({blocks})]\n"
        )
    done = heapwise(
        "gate",
        "--base",
        "old/bin/python",
        "--new",
        "new/bin/python",
        "--limit",
        "allocations=1%",
        "--json",
        "--",
        "bench.py",
    )
    assert verdicts(done) == ["regressed"]
