"""A repository with one commit that makes its program slower."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include "work.h"
static volatile const char revision[] = "{revision}";
int main(void) {{
  volatile unsigned long sum = 0;
  for (unsigned long i = 0; i < WORK; ++i) sum += i ^ (sum >> 3);
  void *block = malloc(1000);
  printf("%lu\\n", sum != 0);
  free(block);
  return revision[0] == 'x';
}}
"""


def git(folder: Path, *words: str) -> str:
    """What it prints. The user's settings of git do not matter."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        [
            *("git", "-c", "user.name=N", "-c", "user.email=e@e", "-c", "commit.gpgsign=false"),
            *("-c", "protocol.file.allow=always", *words),  # a submodule of this machine
        ],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    ).stdout.strip()


def planted(
    folder: Path,
    commits: int,
    slow: int,
    percent: float,
    *,
    iterations: int,
    broken: Collection[int] = (),
) -> list[str]:
    """The hashes of the commits. From number ``slow`` on the program does ``percent`` more. Every
    commit is another program. Those of ``broken`` do not compile."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for number in range(commits):
        work = round(iterations * (1 + percent / 100)) if number >= slow else iterations
        (folder / "work.h").write_text(f"#define WORK {work}ul\n")
        text = PROGRAM.format(revision=f"r{number}")
        (folder / "main.c").write_text(text + ("this is no C\n" if number in broken else ""))
        git(folder, "add", ".")
        git(folder, "commit", "-qm", f"change number {number}")
    return git(folder, "rev-list", "--reverse", "HEAD").split()
