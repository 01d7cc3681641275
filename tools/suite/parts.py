"""The parts of the suite, in the order in which they run: what is quick and often broken first."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from suite.part import MOST_S, Lane, Part

PROCESSORS = os.cpu_count() or 1

MOSTLY_WAITING = 2 * PROCESSORS
"""Processes for tests that mostly wait: for naps, servers, other machines, ends of time."""

HALF = max(1, PROCESSORS // 2)
"""Processes of a part of the second lane. The part beside it uses all processors, but waits now and
then."""

USUAL = "not slow and not long"
"""The tests that pytest chooses for `make test`."""

MEASURING = ("tests/lab/measured", "tests/lab/native/test_planted.py")
"""Where the tests with the marker `alone` are. To look for them takes as long as to load them all,
and nothing runs beside this part."""

NOT_FOR_CPP = (
    *("docs", "packaging", "peers", "programs", "python", "schema"),
    *("tests/data", "tests/e2e", "tests/lab", "workshop"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"),
)
"""What neither the C++ tests nor the programs that they are built with read."""


def of_python(root: Path, results: Path) -> list[Part]:
    """Style, types, layers, then every Python test."""
    tools = Path(sys.executable).parent
    return [
        Part("format", ["tools/format", "--check"]),
        Part("mypy", [str(tools / "mypy")], lane=Lane.BESIDE),
        Part(
            "layers of Python",
            [str(tools / "lint-imports")],
            environment={"PYTHONPATH": str(root / "python")},
        ),
        Part("layers of C++", [sys.executable, "tools/check_layers.py"]),
        Part("cycles of Python", [sys.executable, "tools/check_cycles.py"]),
        Part("orders of atomics", [sys.executable, "tools/check_orders.py"]),
        pytest("lab", results, "tests/lab", marks=f"{USUAL} and not alone"),
        pytest(
            "measuring",
            results,
            *MEASURING,
            marks=f"{USUAL} and alone",
            processes=1,
            lane=Lane.ALONE,
        ),
    ]


def installed_native() -> Path:
    """Where `make setup` put what it built: not the newest build that lies about."""
    return Path(sysconfig.get_path("purelib")) / "heapwise" / "native"


def preload_profile(
    name: str,
    profile: str,
    results: Path,
    *folders: str,
    timeout_s: float = MOST_S,
    marks: str = USUAL,
) -> Part:
    """Tests of what is preloaded, with this profile of the heap."""
    library = installed_native() / f"libheapwise-malloc-{profile}.so"
    return pytest(
        name,
        results,
        *folders,
        timeout_s=timeout_s,
        marks=marks,
        HEAPWISE_TEST_MALLOC=str(library),
    )


def pytest(
    name: str,
    results: Path,
    *folders: str,
    timeout_s: float = MOST_S,
    processes: int | None = None,
    marks: str = USUAL,
    by_file: bool = False,
    unrelated: tuple[str, ...] = (),
    lane: Lane = Lane.USUAL,
    **environment: str,
) -> Part:
    """A part that pytest runs in this number of processes beside its own, if it is more than one,
    with ``environment`` added.

    processes: by default as many as a part of this lane has.
    marks: an expression of pytest, which tests are run.
    by_file: all tests of a file run in one process, which makes what they share once.
    unrelated, lane: as a part has them.
    """
    junit = results / f"{name}.xml"
    command = [sys.executable, "-m", "pytest", f"--junitxml={junit}", "--durations=8"]
    count = processes or processes_of(lane)
    beside = count if count > 1 else 0
    distribution = "loadfile" if by_file else "worksteal"
    command += ["--numprocesses", str(beside), "--dist", distribution, "-m", marks, *folders]
    added = {"HEAPWISE_NATIVE": str(installed_native())} | environment
    return Part(name, command, junit, timeout_s, added, unrelated=unrelated, lane=lane)


# Under qemu the emulator's own pages count as resident, it adds a line to an aborted program's, its
# threads block signals as it likes, it dies when a forked child starts a thread, what a program
# unmaps stays mapped for the emulator itself, it keeps advice about pages to itself (a child finds
# what it should find wiped), and it has a handler of SIGSEGV of its own.
NOT_UNDER_QEMU = (
    "touches nothing|contract/(pool|typed)_checking_test|every violation has its line"
    "|beside what the kernel counts|a forked child has a clock of its own"
    "|a forked child has no bare thread|the child has it too|a child forked by a crowd is alone"
    "|inherits neither priority nor processors"
    "|a child forked during another thread's report"
    "|a hole is found"
    "|which the system was asked to use"
    "|unit/os/owner_test"
    "|a process that shares its memory with the parent starts no thread"
    "|a copy of the process that no handler knows of"
    "|a handler that the program had gets each SIGSEGV|a program that ignores SIGSEGV"
    "|an access that is not allowed calls the action"
)


# The collector clears the stack below its own frames. A sanitizer makes these larger: addresses
# that were left there are found in them.
NOT_SANITIZED = "unit/gc/[a-z]+/unused_stack_test"

# One thread for a long time: nothing for a thread sanitizer to see.
NOT_UNDER_TSAN = (
    f"{NOT_SANITIZED}|unit/gc/[a-z]+/growth_test"
    "|the heap of a program that keeps little|free blocks between live ones"
    "|blocks that are lost are handed out again"
    "|contract/hybrid_contract_test: ?a freed block is used again"
)


def processes_of(lane: Lane) -> int:
    """Returns: how many processes a part of this lane has, if it does not say so itself."""
    return HALF if lane is Lane.BESIDE else PROCESSORS


def build_of(
    preset: str,
    *targets: str,
    lane: Lane = Lane.USUAL,
    prefix: str = "",
    options: tuple[str, ...] = (),
) -> list[Part]:
    """Configure and build these targets.

    prefix: stands before the names of the parts. options: further ones of CMake.
    """
    build = ["cmake", "--build", "--preset", preset, "--target", *targets, "--", "-k", "0"]
    build += ["-j", str(processes_of(lane))] if lane is Lane.BESIDE else []
    configure = ["cmake", "--preset", preset, *options]
    return [
        Part(f"{prefix}{preset} configure", configure, prepares=True, lane=lane),
        Part(f"{prefix}{preset} build", build, prepares=True, lane=lane),
    ]


def of_preset(
    preset: str,
    results: Path,
    *labels: str,
    without: str = "",
    also: tuple[str, ...] = (),
    lane: Lane = Lane.USUAL,
    long: bool = False,
) -> list[Part]:
    """Configure, build and run the C++ tests that carry one of the labels.

    also: further targets to build. long: with the tests that the preset leaves out
    (HEAPWISE_ALL_TESTS).
    """
    prefix = "long " if long else ""
    options = ("-DHEAPWISE_ALL_TESTS=ON",) if long else ()
    junit = results / f"{prefix}ctest-{preset}.xml"
    targets = [*(f"{label}_tests" for label in labels), *also]
    # ctest reads only what is there: the file of an earlier run must not pass for this one's.
    run = ["ctest", "--preset", preset, "--label-regex", "|".join(labels)]
    run += ["--parallel", str(processes_of(lane))]
    run += ["--exclude-regex", without] if without else []
    return [
        *build_of(preset, *targets, lane=lane, prefix=prefix, options=options),
        Part(
            f"{prefix}{preset} tests",
            [*run, "--output-junit", str(junit)],
            junit,
            unrelated=NOT_FOR_CPP,
            lane=lane,
        ),
    ]


def concurrent_experiments(preset: str, root: Path, results: Path, prefix: str = "") -> Part:
    """Experiments that start threads or processes, at smoke size, as the preset built them.

    prefix: stands before the name of the part.
    """
    native = str(root / "build" / preset / "native")
    tests = "tests/sanitize/test_concurrent_experiments.py"
    name = f"{prefix}{preset} experiments"
    return pytest(name, results, tests, unrelated=NOT_FOR_CPP, HEAPWISE_NATIVE=native)


def all_parts(root: Path, results: Path) -> list[Part]:
    """Everything."""
    return [
        *of_preset("dev", results, "unit", "contract", "stress"),
        *of_python(root, results),
        # Early, because these tests wait most: the second lane has work meanwhile.
        pytest("e2e", results, "tests/e2e", processes=MOSTLY_WAITING),
        # `dev` has every test. The others have those that show something else there.
        *of_preset("tsan", results, "stress", "unit_gc", without=NOT_UNDER_TSAN),
        *of_preset(
            "aarch64", results, "unit", "contract", without=NOT_UNDER_QEMU, lane=Lane.BESIDE
        ),
        pytest("preload", results, "tests/preload"),
        pytest("world", results, "tests/world", processes=MOSTLY_WAITING),
        Part("models", ["tests/model/run"], unrelated=NOT_FOR_CPP, lane=Lane.BESIDE),
        # Each process would build the fuzzer, all in the same folder.
        pytest("fuzz", results, "tests/fuzz", processes=1, lane=Lane.BESIDE),
        # Each process would build the library again.
        pytest("install", results, "tests/install", processes=1, lane=Lane.BESIDE),
        # Each process would build the site again.
        pytest("site", results, "tests/site", processes=1, lane=Lane.BESIDE),
        Part("docs", [sys.executable, "tools/check_docs.py"], lane=Lane.BESIDE),
        pytest("headers", results, "tests/headers", lane=Lane.BESIDE),
        pytest(
            "conformance",
            results,
            *("tests/conformance", "tests/attack"),
            lane=Lane.BESIDE,
        ),
        pytest("golden", results, "tests/golden", by_file=True, lane=Lane.BESIDE),
        *of_preset("asan", results, "unit", "contract", without=NOT_SANITIZED, lane=Lane.BESIDE),
    ]


def long_parts(root: Path, results: Path) -> list[Part]:
    """What takes too long for every change: programs of all kinds, every moment for a fault, and
    as many random campaigns as a rate of 1 % takes."""
    return [
        # What is marked as long: other tests show most of the same.
        pytest(
            "long tests",
            results,
            *("tests/lab", "tests/headers", "tests/conformance", "tests/attack", "tests/golden"),
            *("tests/preload", "tests/install", "tests/e2e"),
            timeout_s=7200,
            marks="long and not slow and not alone",
        ),
        pytest(
            "long site",
            results,
            "tests/site",
            processes=1,
            HEAPWISE_TIER="long",
        ),
        # New inputs, and more of them, for all that takes random ones.
        pytest(
            "long inputs",
            results,
            "tests/lab",
            timeout_s=7200,
            marks=f"{USUAL} and not alone",
            HEAPWISE_TIER="long",
        ),
        # Rows of all languages.
        pytest(
            "long trees",
            results,
            "tests/e2e/test_trees.py",
            processes=1,
            HEAPWISE_TIER="long",
        ),
        pytest(
            "long simulations",
            results,
            "tests/lab/simulation",
            timeout_s=3600,
            HEAPWISE_CAMPAIGNS="1000",
        ),
        pytest(
            "long comparisons",
            results,
            "tests/lab/measured",
            timeout_s=3600,
            processes=1,
            marks="not slow",
            HEAPWISE_TIER="long",
        ),
        pytest(
            "long programs",
            results,
            "tests/preload/programs",
            timeout_s=3600,
            marks="not slow",
            HEAPWISE_TIER="long",
        ),
        # Real programs of all kinds, in each way in which Heapwise takes part.
        pytest("long world", results, "tests/world", timeout_s=7200, marks="not slow"),
        pytest(
            "long faults",
            results,
            "tests/preload/faults",
            timeout_s=3600,
            marks="not slow",
            HEAPWISE_MOST_FAULTS="200",
        ),
        pytest(
            "long attacks",
            results,
            "tests/lab/native/test_attacks.py",
            timeout_s=3600,
            HEAPWISE_TIER="long",
        ),
        *(
            preload_profile(
                f"long {profile}",
                profile,
                results,
                "tests/preload",
                timeout_s=3600,
                marks="not slow",
            )
            for profile in ("hardened", "guarded")
        ),
        *(
            pytest(
                f"long conformance of {profile}",
                results,
                "tests/conformance",
                marks="not slow",
                HEAPWISE_MALLOC=str(installed_native() / f"libheapwise-malloc-{profile}.so"),
            )
            for profile in ("guarded", "hardened")
        ),
        pytest(
            "long bisections",
            results,
            "tests/e2e/test_bisect.py",
            timeout_s=3600,
            processes=1,
            HEAPWISE_TIER="long",
        ),
        # More faults in one run of a fleet.
        pytest(
            "long fleet",
            results,
            "tests/e2e/test_fleet.py",
            processes=1,
            HEAPWISE_TIER="long",
        ),
        # A system of its own, made by debootstrap, and Conan: the packages as a newcomer gets them.
        pytest(
            "long packages",
            results,
            "tests/install",
            timeout_s=3600,
            processes=1,
            marks="slow",
        ),
        pytest("long fuzz", results, "tests/fuzz", timeout_s=4500, HEAPWISE_TEST_FUZZ_S="3600"),
        # Each file of tests alone: it includes what it needs.
        *build_of("apart", "unit_tests", "contract_tests", "stress_tests"),
        # With what the three presets leave out of `make test`.
        *of_preset("aarch64", results, "unit", "contract", without=NOT_UNDER_QEMU, long=True),
        *of_preset(
            "asan",
            results,
            *("unit", "contract", "stress"),
            without=NOT_SANITIZED,
            also=("experiment_headers", "concurrent_experiments"),
            long=True,
        ),
        concurrent_experiments("asan", root, results, prefix="long "),
        # `make setup` builds the experiments with GCC. clang reads them, with compiled headers.
        pytest(
            "long clang experiments",
            results,
            "tests/sanitize/test_other_experiments.py",
            unrelated=NOT_FOR_CPP,
        ),
        *of_preset(
            "tsan",
            results,
            *("contract", "stress", "unit_gc"),
            without=NOT_UNDER_TSAN,
            also=("concurrent_experiments",),
            long=True,
        ),
        concurrent_experiments("tsan", root, results, prefix="long "),
        # A virtual machine with the kernel of this Debian release.
        pytest(
            "long kernel",
            results,
            "tests/kernel",
            timeout_s=3600,
            processes=1,
            marks="slow",
        ),
        Part(
            "long collector faults",
            [
                *(sys.executable, "tests/long/collector_faults.py", "--runs", "1000"),
                *("--build", "build/apart/tests"),
            ],
            timeout_s=7200,
        ),
    ]
