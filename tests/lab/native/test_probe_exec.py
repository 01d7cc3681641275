"""Programs that start others, with and without the libraries that are preloaded into them."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Observe = Callable[..., dict[str, Any]]

STARTER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char* nothing[] = {NULL};
static char* arguments[] = {"true", NULL};

static void become(const char* how, char** environment) {
  if (strcmp(how, "execve") == 0) execve("/bin/true", arguments, environment);
  if (strcmp(how, "execvpe") == 0) execvpe("true", arguments, environment);
  if (strcmp(how, "execle") == 0) execle("/bin/true", "true", "a", "b", NULL, environment);
  if (strcmp(how, "fexecve") == 0) fexecve(open("/bin/true", O_RDONLY), arguments, environment);
  if (strcmp(how, "execveat") == 0) {
    execveat(open("/bin/true", O_RDONLY), "", arguments, environment, AT_EMPTY_PATH);
  }
  environ = environment;
  if (strcmp(how, "execv") == 0) execv("/bin/true", arguments);
  if (strcmp(how, "execvp") == 0) execvp("true", arguments);
  if (strcmp(how, "execl") == 0) execl("/bin/true", "true", "a", NULL);
  if (strcmp(how, "execlp") == 0) execlp("true", "true", NULL);
}

int main(int count, char** words) {
  const char* how = words[1];
  char** environment = strcmp(words[2], "drop") == 0 ? nothing : environ;
  pid_t child = 0;
  if (strcmp(how, "posix_spawn") == 0) {
    return posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment) != 0 ||
           waitpid(child, NULL, 0) != child;
  }
  if (strcmp(how, "posix_spawnp") == 0) {
    return posix_spawnp(&child, "true", NULL, NULL, arguments, environment) != 0 ||
           waitpid(child, NULL, 0) != child;
  }
  if (strcmp(how, "system") == 0) return environ = environment, system("exit 0");
  if (strcmp(how, "popen") == 0) return environ = environment, pclose(popen("exit 0", "r"));
  for (int i = 0; i < (count > 3 ? atoi(words[3]) : 1); ++i) {
    child = vfork();
    if (child == 0) {
      become(how, environment);
      _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return 0;
}
"""
WAYS = [
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "execl",
    "execlp",
    "execle",
    "fexecve",
    "execveat",
    "posix_spawn",
    "posix_spawnp",
]


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("starter")
    source, program = folder / "starter.c", folder / "starter"
    source.write_text(STARTER)
    subprocess.run([shutil.which("cc") or "cc", str(source), "-o", str(program)], check=True)
    return program


@pytest.fixture
def observe(launch: Any, native: Path, tmp_path: Path) -> Observe:
    """What the launcher says of the probe's lines; those that it left are below "lines"."""

    def start(*program: str, options: list[str] | None = None, **more: str) -> dict[str, Any]:
        out = tmp_path / "probe"
        out.unlink(missing_ok=True)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HEAPWISE_PROBE_OUT": str(out),
            "LD_PRELOAD": str(native / "libheapwise-probe.so"),
            **more,
        }
        result = launch(
            *program,
            options=options,
            environment=[os.fsencode(f"{k}={v}") for k, v in environment.items()],
        )
        assert result["exit_code"] == 0
        return {**result["probe"], "lines": lines_of(out)}

    return start


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def names(seen: dict[str, Any]) -> list[str]:
    return [Path(line["exe"]).name for line in seen["lines"]]


@pytest.mark.parametrize("way", WAYS)
def test_program_that_keeps_the_preload_says_so_itself(
    observe: Observe, starter: Path, way: str
) -> None:
    seen = observe(str(starter), way, "keep")
    assert names(seen) == ["starter", "true"]
    assert (seen["processes"], seen["execs"], seen["lost_execs"]) == (2, 1, 0)


@pytest.mark.parametrize("way", [*WAYS, "system", "popen"])
def test_program_that_loses_the_preload_is_named(observe: Observe, starter: Path, way: str) -> None:
    seen = observe(str(starter), way, "drop")
    assert names(seen) == ["starter"]
    (lost,) = seen["lost"]
    assert Path(lost["target"]).name == ("sh" if way in ("system", "popen") else "true")
    assert (lost["preload"], lost["count"], seen["lost_execs"]) == ("dropped", 1, 1)


@pytest.mark.parametrize(
    ("command", "target", "fate"),
    [
        (["/usr/bin/env", "-i", "/bin/true"], "/bin/true", "dropped"),
        (["/bin/bash", "-c", "unset LD_PRELOAD; /bin/true; true"], "/bin/true", "dropped"),
        (
            ["/bin/bash", "-c", "LD_PRELOAD=/lib/none.so /bin/true 2>/dev/null; true"],
            "/bin/true",
            "changed",
        ),
        (["/bin/bash", "-c", "unset HEAPWISE_PROBE_OUT; /bin/true; true"], "/bin/true", "silent"),
    ],
)
def test_real_programs_that_change_the_environment(
    observe: Observe, command: list[str], target: str, fate: str
) -> None:
    seen = observe(*command)
    assert seen["lost"] == [{"target": target, "preload": fate, "count": 1}]


def test_static_program_is_lost_though_it_was_given_the_preload(
    observe: Observe, tmp_path: Path
) -> None:
    source, program = tmp_path / "s.c", tmp_path / "static"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", str(source), "-o", str(program)], check=True)
    seen = observe("/bin/bash", "-c", f"{program}; {program}; true")
    assert seen["lost"] == [{"target": str(program), "preload": "kept", "count": 2}]
    assert seen["execs"] == 2


def test_exec_that_fails_is_not_an_exec(observe: Observe, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no program")
    seen = observe(
        "/usr/bin/python3",
        "-c",
        "import os\n"
        f"for name in ('/nonexistent', {str(tmp_path / 'data')!r}):\n"
        "    try: os.execv(name, ['x'])\n"
        "    except OSError: pass\n"
        "os.execv('/bin/true', ['true'])",
    )
    assert (seen["execs"], seen["lost_execs"]) == (1, 0)


def test_equal_processes_are_one_line_with_a_count(
    observe: Observe, starter: Path, tmp_path: Path
) -> None:
    seen = observe(str(starter), "execve", "keep", "500")
    assert names(seen) == ["starter", "true"]
    assert [line["count"] for line in seen["lines"]] == [1, 500]
    assert (seen["processes"], seen["execs"], seen["lost_execs"]) == (501, 500, 0)
    assert (tmp_path / "probe").stat().st_size < 2000


def test_programs_that_differ_are_limited_in_number(observe: Observe) -> None:
    """Lines as those of 1,200 different programs: what is left out is counted."""
    seen = observe(
        "/usr/bin/python3",
        "-c",
        "import os\n"
        "with open(os.environ['HEAPWISE_PROBE_OUT'], 'a') as file:\n"
        "    for i in range(1200):\n"
        '        file.write(\'{"pid":%d,"exe":"/p%d"}\\n\' % (i, i))',
    )
    assert len(seen["lines"]) == 1000
    assert (seen["processes"], seen["omitted"]) == (1201, 201)


def test_file_of_lines_has_a_limit(observe: Observe, starter: Path) -> None:
    """64 MiB; what came before is still counted."""
    fill = "truncate -s 64M $HEAPWISE_PROBE_OUT; "
    seen = observe("/bin/bash", "-c", fill + f"{starter} execve keep 5; true")
    assert seen["cut"]
    assert names(seen) == ["bash", "truncate"]


@pytest.mark.parametrize("kibibytes", [0, 4])
def test_program_with_a_limit_of_its_own_for_files_is_not_ended(
    observe: Observe, kibibytes: int
) -> None:
    """A line beyond RLIMIT_FSIZE is left out: to write it would end the program with SIGXFSZ."""
    fill = f"truncate -s 4K $HEAPWISE_PROBE_OUT; ulimit -f {kibibytes}; "
    seen = observe("/bin/bash", "-c", fill + "/bin/true && /bin/true")
    assert names(seen) == ["bash", "truncate"]


def test_long_path_does_not_tear_the_line(observe: Observe, starter: Path, tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(6):
        folder = folder / ("d" * 200)
    folder.mkdir(parents=True)
    shutil.copy("/bin/true", folder / "true")
    seen = observe("/usr/bin/env", "-i", str(folder / "true"))
    assert [lost["target"] for lost in seen["lost"]] == ["(a long path)"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_program_that_becomes_another_user_still_reports(observe: Observe, tmp_path: Path) -> None:
    """Its file is in a folder of mode 0700, so the path is of no use to it."""
    tmp_path.chmod(0o700)
    seen = observe(
        "/usr/bin/setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "/bin/sh",
        "-c",
        "id -u >/dev/null; exit 0",
    )
    assert names(seen)[0] == "setpriv"
    assert "id" in names(seen)
    assert seen["lost"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_program_that_becomes_another_user_is_still_counted(
    launch: Any, native: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    out = tmp_path / "count"
    launch(
        "/usr/bin/setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "/usr/bin/id",
        environment=[
            b"HEAPWISE_COUNT_OUT=" + bytes(out),
            b"LD_PRELOAD=" + bytes(native / "libheapwise-count.so"),
        ],
    )
    assert [Path(line["exe"]).name for line in lines_of(out)] == ["id"]


CLOSES_ALL = "import os, subprocess; os.closerange(3, 1000); {more}subprocess.run(['/bin/true'])"


def test_program_that_closes_all_descriptors_reports_by_the_path(observe: Observe) -> None:
    seen = observe("/usr/bin/python3", "-c", CLOSES_ALL.format(more=""))
    assert names(seen)[-1] == "true"
    assert seen["lost"] == []


def test_descriptor_of_the_programs_own_is_never_written_to(
    observe: Observe, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    more = (
        f"f = os.open({str(own)!r}, os.O_CREAT | os.O_WRONLY);"
        "[os.dup2(f, n) for n in range(100, 400)];"
    )
    program = CLOSES_ALL.format(more=more).replace("['/bin/true']", "'/bin/true', close_fds=False")
    seen = observe("/usr/bin/python3", "-c", program)
    assert own.read_bytes() == b""
    assert names(seen)[-1] == "true"


def test_few_descriptors_are_enough(observe: Observe) -> None:
    """The launcher cannot open one above the limit, and hands over the path alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        seen = observe("/bin/sh", "-c", '/bin/true; test -z "$HEAPWISE_PROBE_FILE"')
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert names(seen) == ["dash", "true"]


def test_without_a_probe_nothing_is_written(launch: Any, toy: str) -> None:
    assert launch(toy, "exit", "0", environment=[b"A=b"])["probe"] is None
