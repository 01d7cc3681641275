"""Trees of programs whose allocations are decided by a file beside the program."""

from __future__ import annotations

from pathlib import Path

WORK = """
#include <stdlib.h>
void work(void) {{
  for (int block = 0; block < {blocks}; ++block) {{
    void *volatile memory = malloc(64);
    free(memory);
  }}
}}
"""
HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char path[PATH_MAX + 64];
static const char *beside(const char *name) {
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  path[length < 0 ? 0 : length] = 0;
  free(strdup(path));
  strcpy(strrchr(path, '/') + 1, name);
  return path;
}
"""
MAIN = {
    "reader": 'void work(void);\nint main(void) { beside("x"); work(); puts("done"); }\n',
    "library": 'void work(void);\nint main(void) { beside("x"); work(); puts("done"); }\n',
    "plug-in": """int main(void) {
  void *library = dlopen(beside("work.so"), RTLD_NOW);
  if (library == NULL) return 1;
  ((void (*)(void))dlsym(library, "work"))();
  puts("done");
}
""",
    "child": """int main(void) {
  const char *child = beside("child");
  if (fork() == 0) { execl(child, child, NULL); _exit(1); }
  int status = 1;
  wait(&status);
  puts("done");
  return status != 0;
}
""",
    "data": """int main(void) {
  FILE *file = fopen(beside("blocks.txt"), "r");
  int blocks = 0;
  if (file == NULL || fscanf(file, "%d", &blocks) != 1) return 1;
  while (blocks-- > 0) { void *volatile memory = malloc(64); free(memory); }
  fclose(file);
  puts("done");
}
""",
}
BUILD = {
    "reader": "cc -O1 -o app main.c work.c",
    "library": "mkdir -p lib && cc -O1 -shared -fPIC -o lib/libwork.so work.c && "
    "cc -O1 -o app main.c -Llib -lwork -Wl,-rpath,$PWD/lib",
    "plug-in": "cc -O1 -shared -fPIC -o work.so work.c && cc -O1 -o app main.c",
    "child": "cc -O1 -o child child.c work.c && cc -O1 -o app main.c",
    "data": "cc -O1 -o app main.c",
    "script": "true",
}
KINDS = tuple(BUILD)

SCRIPT = """#!/usr/bin/python3
import os
import part
part.work(len(os.path.abspath(__file__)))
print("done")
"""
PART = """
def work(length):
    for n in range({blocks}):
        bytes(1000 + n % 100)
    return "x" * length
"""


def program_of(kind: str) -> str:
    return "app.py" if kind == "script" else "app"


def write_tree(folder: Path, kind: str, blocks: int) -> None:
    """Sources of a program that makes ``blocks`` blocks, which a file beside ``main.c`` says."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("app\nchild\nlib\n*.so\n__pycache__\n")
    if kind == "script":
        (folder / "app.py").write_text(SCRIPT)
        (folder / "app.py").chmod(0o755)
        (folder / "part.py").write_text(PART.format(blocks=blocks))
        return
    (folder / "main.c").write_text(HEAD + MAIN[kind])
    (folder / "work.c").write_text(WORK.format(blocks=blocks))
    (folder / "blocks.txt").write_text(f"{blocks}\n")
    (folder / "child.c").write_text("void work(void);\nint main(void) { work(); }\n")
