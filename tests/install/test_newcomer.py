"""What a newcomer does, with the commands of the documents, where nothing of ours has been before.

The system is a minimal Debian with a compiler. The wheel and the Debian packages are installed in
it; then an experiment is added to a copy of the sources.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from clean_system import CleanSystem, run

ROOT = Path(__file__).resolve().parents[2]
INSTALL = ROOT / "docs" / "how-to" / "install.md"
ADD_EXPERIMENT = ROOT / "docs" / "how-to" / "add-experiment.md"
PROGRAM = """#include <heapwise/heapwise.hpp>
#include <cstdio>
#include <string>
int main() {
  heapwise::pool<heapwise::unsynchronized> pool{{.block_size = 64, .block_count = 100}};
  void* const block = pool.allocate();
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i);
  std::printf("%zu %d\\n", text.size(), block != nullptr);
  pool.deallocate(block);
}
"""
SAID = "488890 1\n"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="root alone can make a system of its own"),
    pytest.mark.skipif(not shutil.which("debootstrap"), reason="debootstrap is not installed"),
]


def commands(guide: Path, heading: str = "") -> list[str]:
    """The blocks for a shell below a heading of a guide."""
    text = guide.read_text(encoding="utf-8")
    section = text[text.index(heading) :]
    if heading:
        section = re.split(r"^## ", section[len(heading) :], maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^ *```sh\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)


def packages() -> list[str]:
    """A compiler, Python, and what tools/packages says that building takes."""
    listed = (ROOT / "tools/packages/base.txt").read_text(encoding="utf-8").splitlines()
    names = [line.split()[0] for line in listed if line and not line.startswith("#")]
    return ["ca-certificates", "git", "pkg-config", "python3", *names]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Iterator[CleanSystem]:
    system = CleanSystem(tmp_path_factory.mktemp("newcomer") / "root", *packages())
    home = system.folder / "srv"
    shutil.copytree(dist, home / "dist")
    (home / "your-program.cpp").write_text(PROGRAM)
    run("git", "clone", "--quiet", ROOT, home / "heapwise")
    yield system
    shutil.rmtree(system.folder)


@pytest.fixture(scope="module")
def with_packages(system: CleanSystem) -> CleanSystem:
    [install, _] = commands(INSTALL, "## Debian packages")
    # Root runs this, and nothing may be downloaded. With --no-download, apt-get (2.6) hands dpkg
    # the names of local files without their folder.
    offline = "apt-get install --yes -o Acquire::http::Proxy=http://127.0.0.1:9"
    system.shell(install.replace("sudo apt install", offline))
    return system


def test_a_program_is_compared_with_the_command_of_the_wheel(system: CleanSystem) -> None:
    """By pip in an environment, as the guide allows: pipx asks the network for a new pip."""
    (system.folder / "srv/plain.cpp").write_text(
        "#include <string>\nint main() { std::string s; while (s.size() < 9000000) s += 'x'; }\n"
    )
    system.shell("c++ -O1 -o your-program plain.cpp")
    [block] = commands(INSTALL, "## The command, from wheels")
    install, inject, compare = block.splitlines()
    assert install.startswith("pipx install dist/heapwise-*.whl ")
    assert inject.startswith("pipx inject heapwise dist/heapwise_peers-*.whl")
    system.shell(
        "python3 -m venv environment\n environment/bin/pip install --no-index "
        "--find-links=dist/wheels dist/heapwise*.whl"
    )
    path = {"PATH": "/srv/environment/bin:/usr/sbin:/usr/bin:/bin"}
    said = system.shell(compare.replace("compare", "compare --rounds 2"), **path)
    assert "your-program" in said
    assert re.search(r"\bglibc\b", said)
    system.shell("heapwise report last -o report.html", **path)
    page = (system.folder / "srv/report.html").read_text(encoding="utf-8")
    assert "your-program" in page
    assert "<svg" in page


def test_a_program_is_preloaded_and_linked(with_packages: CleanSystem) -> None:
    [_, use] = commands(INSTALL, "## Debian packages")
    preload, with_pools, with_heap = use.splitlines()
    with_packages.shell(with_pools + " -o your-program")
    assert with_packages.shell(preload) == SAID
    with_packages.shell(f"{with_heap} -std=c++20 $(pkg-config --cflags --libs heapwise) -o linked")
    assert with_packages.shell("./linked") == SAID
    assert "libheapwise-malloc.so" in with_packages.shell("ldd ./linked")


def test_an_experiment_is_added_by_copying_one_file(system: CleanSystem) -> None:
    said = system.shell(commands(ADD_EXPERIMENT)[0], at="/srv/heapwise")
    assert '"kind":"end"' in said.splitlines()[-1]
    changed = system.shell("git -c safe.directory=* status --porcelain", at="/srv/heapwise")
    assert changed == "?? experiments/example/mine.cpp\n"
