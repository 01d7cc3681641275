"""The include checker: planted dependencies that are not allowed are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from check_layers import offences

ROOT = Path(__file__).resolve().parents[3]
HEADERS = {
    "include/heapwise/detail/list.hpp": "#include <cstddef>\n",
    "include/heapwise/thread/mutex.hpp": "#include <heapwise/detail/list.hpp>\n",
    "include/heapwise/pool.hpp": "#include <heapwise/thread/mutex.hpp>\n",
    "include/heapwise/adapt/deleter.hpp": "#include <heapwise/pool.hpp>\n",
    "include/heapwise/observe/counts.hpp": '#include "../pool.hpp"\n',
    "src/os/os.hpp": "",
    "src/os/linux/memory.cpp": '#include "os/os.hpp"\n#include <sys/mman.h>\n',
    "src/options/text.hpp": '#include "os/os.hpp"\n',
    "src/heap/space/span.hpp": "",
    "src/os/collector/world.hpp": "",
    "src/os/reports/faults.hpp": "",
    "src/heap/front/start.hpp": '#include "heap/space/span.hpp"\n',
    "src/gc/collect/sweep.hpp": "",
    "src/gc/checks/leaks.cpp": '#include "options/text.hpp"\n',
    "bench/harness/emit.hpp": "",
    "experiments/pool/bulk.cpp": '#include "harness/emit.hpp"\n#include <heapwise/pool.hpp>\n',
}


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_this_tree_obeys() -> None:
    assert offences(ROOT) == []


def test_allowed_dependencies_are_fine(tmp_path: Path) -> None:
    plant(tmp_path, HEADERS)
    assert offences(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "include/heapwise/detail/list.hpp",
            "#include <heapwise/pool.hpp>\n",
            "detail/list.hpp:1: detail may not use pool",
        ),
        (
            "include/heapwise/adapt/deleter.hpp",
            "\n#include <heapwise/observe/counts.hpp>\n",
            "adapt/deleter.hpp:2: adapt may not use observe",
        ),
        (
            "include/heapwise/pool.hpp",
            '#  include "../../src/os/os.hpp"\n',
            "pool.hpp:1: pool may not use os",
        ),
        (
            "bench/harness/emit.hpp",
            '#include "heap/space/span.hpp"\n',
            "bench may not use heap_space",
        ),
        (
            "src/gc/mark/mark.cpp",
            '#include "heap/space/span.hpp"\n',
            "gc_mark may not use heap_space",
        ),
        (
            "src/gc/mark/mark.cpp",
            '#include "gc/collect/sweep.hpp"\n',
            "gc_mark may not use gc_collect",
        ),
        ("src/options/a.hpp", '#include "heap/space/span.hpp"\n', "options may not use heap_space"),
        (
            "src/heap/space/span.hpp",
            '#include "heap/front/start.hpp"\n',
            "heap_space may not use heap_front",
        ),
        (
            "src/heap/space/span.hpp",
            '#include "os/collector/world.hpp"\n',
            "heap_space may not use os_collector",
        ),
        (
            "src/gc/mark/mark.cpp",
            '#include "os/reports/faults.hpp"\n',
            "gc_mark may not use os_reports",
        ),
        (
            "include/heapwise/pool.hpp",
            "#include <sys/mman.h>\n",
            "pool makes no system calls, but includes <sys/mman.h>",
        ),
        ("include/heapwise/odd/new.hpp", "", "is part of no package"),
        ("src/pool/a.cpp", '#include "os/gone.hpp"\n', '"os/gone.hpp" is not a file of ours'),
    ],
)
def test_a_planted_offence_is_found(tmp_path: Path, name: str, text: str, expected: str) -> None:
    plant(tmp_path, HEADERS | {name: text})
    found = offences(tmp_path)
    assert len(found) == 1
    assert expected in found[0]
