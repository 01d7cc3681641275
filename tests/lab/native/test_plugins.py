"""Programs in C that open plug-ins in C++: their operators new and delete are in a scope of their
own, where a preloaded library finds them only if it looks there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from heapwise.catalog import read_elf
from heapwise.trace import Kind, open_trace

DATA = Path(__file__).resolve().parents[2] / "data" / "plugins"
HEAPS = (
    "",
    "libheapwise-malloc.so",
    "libheapwise-malloc-fast.so",
    "libheapwise-malloc-guarded.so",
    "libheapwise-malloc-hardened.so",
)
LIBRARIES = (
    "libheapwise-count.so",
    "libheapwise-recorder.so",
    "libheapwise-profiler.so",
    "libheapwise-probe.so",
)
ALL_FIT = {"PLUGIN_ALL_FIT": "1"}
"""The plug-in asks for nothing that it cannot get."""

PLUGINS = {
    "shared": [],
    "static": ["-static-libstdc++", "-static-libgcc"],
    "hidden": ["-static-libstdc++", "-Wl,--exclude-libs,ALL"],
    "own": ["-DOWN"],
    "libc++": ["-stdlib=libc++"],
}


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("plugins") / "host"
    subprocess.run(["cc", "-O1", str(DATA / "host.c"), "-o", str(program)], check=True)
    return program


@pytest.fixture(scope="session")
def plugins(host: Path) -> dict[str, Path]:
    """Those that the compilers here can make."""
    libraries = {}
    for name, options in PLUGINS.items():
        compiler = shutil.which("clang++" if name == "libc++" else "c++")
        library = host.with_name(f"{name}.so")
        if compiler is None:
            continue
        done = subprocess.run(
            [
                compiler,
                "-std=c++17",
                "-O2",
                "-shared",
                "-fPIC",
                *options,
                str(DATA / "plugin.cpp"),
                "-o",
                str(library),
            ],
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode == 0:
            libraries[name] = library
    assert {"shared", "own"} <= libraries.keys()
    return libraries


def run(host: Path, way: str, opened: list[Path], preload: list[Path], **more: str) -> str:
    """What the host says. It ends with 0 only if all its blocks went back to where they were
    from."""
    environment = {**os.environ, "LD_PRELOAD": ":".join(map(str, preload)), **more}
    done = subprocess.run(
        [str(host), way, *map(str, opened)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, (way, [each.name for each in opened], preload, done)
    return done.stdout


def record(
    native: Path, trace: Path, library: str, heap: str, command: list[str], **more: str
) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(native / heap) if heap else "", **more}
    done = subprocess.run(
        [
            str(native / "heapwise-record"),
            "-o",
            str(trace),
            "--recorder",
            str(native / library),
            *(["--sample-every", "4096"] if "profiler" in library else []),
            "--",
            *command,
        ],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done
    assert "used" in done.stdout, done


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_library_brings_a_cpp_runtime(library: str, native: Path) -> None:
    """The process would then have another one than without the library."""
    facts = read_elf(native / library)
    assert facts is not None
    assert {each.partition(".so")[0] for each in facts.needed} <= {"libc", "libgcc_s"}


@pytest.mark.parametrize("library", ["libheapwise-count.so", "libheapwise-recorder.so"])
def test_all_operators_are_forwarded(library: str, native: Path) -> None:
    """As many as the library of C++ here has, and the same."""

    def operators(path: str) -> set[str]:
        said = subprocess.run(
            ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True
        ).stdout
        names = {line.split()[-1].partition("@")[0] for line in said.splitlines()}
        return {name for name in names if name.startswith(("_Znw", "_Zna", "_Zdl", "_Zda"))}

    [runtime] = subprocess.run(
        ["c++", "-print-file-name=libstdc++.so.6"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert operators(str(native / library)) == operators(runtime)
    assert len(operators(runtime)) == 20


@pytest.mark.parametrize("heap", HEAPS)
def test_plugins_work_under_every_library(
    heap: str, native: Path, host: Path, plugins: dict[str, Path], tmp_path: Path
) -> None:
    """Each alone, and those that share malloc one after the other, twice: each is closed and
    opened again."""
    together = [each for name, each in plugins.items() if name != "own"]
    behind = [native / heap] if heap else []
    for library in LIBRARIES:
        for way in ("local", "global"):
            for opened in [*([each] for each in plugins.values()), together]:
                # These heaps look from where they are called for a runtime that can throw, and
                # find the library that stands between.
                is_asked = not heap or plugins.get("static") not in opened
                more = {} if is_asked else ALL_FIT
                if "recorder" in library or "profiler" in library:
                    record(
                        native,
                        tmp_path / "trace.hwt",
                        library,
                        heap,
                        [str(host), way, *map(str, opened)],
                        **more,
                    )
                else:
                    run(
                        host,
                        way,
                        opened,
                        [native / library, *behind],
                        HEAPWISE_COUNT_OUT=str(tmp_path / "lines"),
                        **more,
                    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_plugin_that_binds_deep_works(
    library: str, native: Path, host: Path, plugins: dict[str, Path], tmp_path: Path
) -> None:
    """Under glibc's malloc: with another one, its blocks would be of two allocators, as without
    these libraries."""
    for plugin in plugins.values():
        if "recorder" in library or "profiler" in library:
            record(
                native, tmp_path / "trace.hwt", library, "", [str(host), "deepbind", str(plugin)]
            )
        else:
            run(
                host,
                "deepbind",
                [plugin],
                [native / library],
                HEAPWISE_COUNT_OUT=str(tmp_path / "lines"),
            )


@pytest.mark.parametrize("way", ["linked", "opened"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_malloc_is_not_asked_about_blocks_of_other_operators(
    library: str, way: str, native: Path, tmp_path: Path
) -> None:
    """V8 and other libraries bring an allocator for C++ alone."""
    plugin, program = tmp_path / "libpages.so", tmp_path / "uses_pages"
    compiler = ["c++", "-O1", "-std=c++17", "-shared", "-fPIC", DATA / "pages.cpp", "-o", plugin]
    subprocess.run(compiler, check=True)
    added = ["-DLINKED", plugin, f"-Wl,-rpath,{tmp_path}"] if way == "linked" else []
    subprocess.run(["cc", DATA / "uses_pages.c", "-o", program, *added], check=True)
    for heap in HEAPS:
        if "recorder" in library or "profiler" in library:
            trace = tmp_path / "trace.hwt"
            record(native, trace, library, heap, [str(program), str(plugin)])
            with open_trace(trace) as opened:
                sizes = [int(size) for events in opened.events() for size in events.size]
            assert "profiler" in library or sizes.count(100_000) == 100
        else:
            environment = {
                "LD_PRELOAD": " ".join(str(native / each) for each in (library, heap) if each),
                "HEAPWISE_COUNT_OUT": str(tmp_path / "lines"),
            }
            done = subprocess.run([program, plugin], env=environment, check=False, timeout=60)
            assert done.returncode == 0, (library, heap)


@pytest.mark.parametrize("heap", HEAPS)
def test_the_calls_of_a_plugin_are_recorded_by_their_kinds(
    heap: str, native: Path, host: Path, plugins: dict[str, Path], tmp_path: Path
) -> None:
    for name, plugin in plugins.items():
        if name == "hidden":
            continue  # its operators are its own, which no other library can see
        trace = tmp_path / f"{name}.hwt"
        # Operators that throw themselves make the exception inside the call: its block is a part
        # of the call, and its end is not.
        more = ALL_FIT if heap or name == "own" else {}
        record(
            native,
            trace,
            "libheapwise-recorder.so",
            heap,
            [str(host), "local", str(plugin)],
            **more,
        )
        blocks: Counter[Kind] = Counter()
        with open_trace(trace) as opened:
            for events in opened.events():
                wanted = events.makes & (events.size == 1111)
                blocks.update(map(Kind, events.kind[wanted].tolist()))
            assert opened.summary is not None
            assert (opened.summary.unknown_ends, opened.summary.lost_ends) == (0, 0), name
        assert blocks == {Kind.SCALAR_NEW: 2 * 20 * 6, Kind.ARRAY_NEW: 2 * 20 * 6}, name


@pytest.mark.parametrize("heap", HEAPS)
def test_the_calls_of_a_plugin_are_counted_once(
    heap: str, native: Path, host: Path, plugins: dict[str, Path], tmp_path: Path
) -> None:
    behind = [native / heap] if heap else []
    counts = {}
    for way in ("local", "global"):
        lines = tmp_path / way
        run(
            host,
            way,
            [plugins["shared"]],
            [native / "libheapwise-count.so", *behind],
            HEAPWISE_COUNT_OUT=str(lines),
            **ALL_FIT,
        )
        [line] = [json.loads(each) for each in lines.read_text().splitlines()]
        counts[way] = line["calls"]
    assert counts["local"]["malloc"] > 2 * 20 * 6
    assert counts["local"]["aligned"] >= 2 * 20 * 6
    for name in ("malloc", "aligned", "free"):
        assert abs(counts["local"][name] - counts["global"][name]) < 20, counts
