"""The heap on the kernel of this Debian release, which may differ much from the one here.

On Linux 5.7 to 6.16 a move of pages that fails unmaps the place that they were to go to. Newer
kernels hide that, so other tests can only fake it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.machine import Ended

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "build" / "apart" / "tests"
PATTERNS = ("unit_heap_*_test", "unit_os_*_test")
TIMED = ("unit_heap_purge_clock_test",)
"""Its cases end themselves after some time, which is too short if the guest is emulated."""

PROFILES = ("", "-guarded", "-hardened")

SCRIPTS = {
    "sqlite3": 'sqlite3 :memory: "with recursive n(i) as (select 1 union all select i + 1 from n '
    "limit 200000) select count(distinct i || 'x'), sum(length(i)) from n\"",
    "perl": 'perl -e \'my %all; $all{$_ % 5000} .= "$_," for 1 .. 200000; '
    'print scalar(keys %all), " ", length(join q(), values %all), "\\n"\'',
    "python3": 'PYTHONMALLOC=malloc python3 -I -S -c "print(sum(len(str(i) * (i % 50)) for i in '
    'range(100000)), len({i: [i] for i in range(100000)}))"',
    "gawk": "gawk 'BEGIN { for (i = 0; i < 200000; ++i) a[i % 9999] = a[i % 9999] i; n = 0; "
    "for (k in a) n += length(a[k]); print n }'",
}
"""Program -> a command of it that uses malloc much, and prints one line."""


def start_of_python() -> list[Path]:
    """What Debian's interpreter reads before it runs a line, and finds its folders by."""
    words = ["/usr/bin/python3", "-c", "import os; print(os.__file__)"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    library = Path(done.stdout.strip()).parent
    return [library / "os.py", library / "encodings", *library.glob("lib-dynload/_json.*")]


def version(ended: Ended) -> tuple[int, int]:
    major, minor, *_ = ended.output.split(".")
    return int(major), int(minor)


def test_a_failed_move_unmaps_its_target(
    boot: Callable[..., Ended], compiled: Callable[[str], Path]
) -> None:
    """Which is why the tests below are run here."""
    program = compiled("failed_move")
    kernel = version(boot("uname -r"))
    ended = boot(str(program), program)
    assert ended.output.split() == ["lost" if (5, 7) <= kernel <= (6, 16) else "moved"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("words", ["", " confined"])
def test_blocks_that_move_again_and_again_keep_their_content(
    boot: Callable[..., Ended],
    compiled: Callable[[str], Path],
    native: Path,
    profile: str,
    words: str,
) -> None:
    program, library = compiled("grows"), native / f"libheapwise-malloc{profile}.so"
    ended = boot(f"LD_PRELOAD={library} {program}{words}", program, library)
    assert (ended.output, ended.exit_code) == ("done\n", 0)


def test_unit_tests_pass(boot: Callable[..., Ended]) -> None:
    programs = sorted(
        file for pattern in PATTERNS for file in TESTS.glob(pattern) if file.name not in TIMED
    )
    if not programs:
        pytest.skip("no tests are built: cmake --build --preset apart --target unit_tests")
    ended = boot(
        "\n".join(
            [
                "export HEAPWISE_MALLOC_SHARDS=1",
                "failed=0",
                *(
                    f"{program} --no-colors --minimal || "
                    f"{{ echo 'FAILED {program.name}'; failed=1; }}"
                    for program in programs
                ),
                "exit $failed",
            ]
        ),
        *programs,
    )
    assert ended.exit_code == 0, ended.output


def test_real_programs_print_the_same(boot: Callable[..., Ended], native: Path) -> None:
    found = {name: path for name in SCRIPTS if (path := shutil.which(name, path="/usr/bin"))}
    library = native / "libheapwise-malloc.so"
    files = [Path(path) for path in found.values()]
    files += start_of_python() if "python3" in found else []
    lines = []
    for name in found:
        lines += [
            f"echo '== {name}'",
            f"({SCRIPTS[name]})",
            f"(export LD_PRELOAD={library}; {SCRIPTS[name]})",
        ]
    ended = boot("set -e\n" + "\n".join(lines), library, *files)
    assert ended.exit_code == 0, ended.output
    parts = ended.output.split("== ")[1:]
    assert len(parts) == len(found)
    for part in parts:
        name, plain, preloaded = part.splitlines()
        assert plain == preloaded, name
