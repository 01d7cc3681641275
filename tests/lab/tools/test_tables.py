"""Each table of the documents that lists what the code has: it has all of it, and nothing else."""

from __future__ import annotations

import re
import typing
from pathlib import Path
from typing import Any

import typer

from heapwise.catalog.peer_file import PeerBuild
from heapwise.cli.compare import compare
from heapwise.cli.export import PAGES
from heapwise.cli.frame.app import build_app
from heapwise.cli.frame.ask.shell_choice import NO_SHELL
from heapwise.errors import Exit
from heapwise.model import Row
from heapwise.report.formats import allocatorbench, find_formats
from heapwise.runner.plan.compare_plan import DEFAULT_TIME_S
from heapwise.study.reproduce.reproduced import VERDICTS
from heapwise.study.server.ask import QUANTITIES
from heapwise.study.server.generators import GENERATORS
from heapwise.trace import columns
from heapwise.trace.exports import EXPORTS
from heapwise.trace.file import FrameKind
from heapwise.wording.metrics import OF_GATE
from simulation.promises import promises

ROOT = Path(__file__).resolve().parents[3]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table(page: str, first_line: str) -> list[list[str]]:
    """The cells of the rows of a table. first_line: the begin of its heading."""
    [body] = re.findall(
        rf"^ *\| {re.escape(first_line)}.*\n *\|[-|]+\n((?: *\|.*\n)+)",
        text_of(page) + "\n",
        re.MULTILINE,
    )
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in body.splitlines()
    ]


def names(page: str, first_line: str, column: int = 0) -> list[str]:
    """What stands in code marks in a column, in order."""
    return [
        name for row in table(page, first_line) for name in re.findall(r"`([^`]+)`", row[column])
    ]


def names_of_struct(file: str, start: str, end: str, pattern: str) -> list[str]:
    """What a pattern finds between two pieces of a file."""
    return re.findall(pattern, text_of(file).split(start)[1].split(end)[0], re.MULTILINE)


def test_each_format_of_export_is_in_the_table() -> None:
    listed = [row[0].strip("`") for row in table("docs/export.md", "format | what it holds")]
    assert sorted(listed) == sorted([*find_formats(), PAGES])


def test_the_columns_of_allocatorbench_are_in_the_table() -> None:
    written = [
        *allocatorbench.PLACE,
        *allocatorbench.FIGURES,
        "others",
        *allocatorbench.FACTS,
        *allocatorbench.FATE,
    ]
    assert names("docs/export.md", "column | meaning") == written


def test_the_metrics_of_the_gate_are_in_its_table() -> None:
    assert sorted(names("docs/how-to/gate-in-ci.md", "metric |")) == sorted(OF_GATE)


def test_the_exit_codes_of_the_gate_are_exit_codes() -> None:
    listed = {int(row[0]) for row in table("docs/how-to/gate-in-ci.md", "exit code |")}
    assert listed == {Exit.DONE, Exit.GATE_FAILED, Exit.PROGRAM_FAILED, Exit.NOT_TRUSTWORTHY}


def test_the_frames_and_columns_of_a_trace_are_in_their_tables() -> None:
    kinds = [int(row[0]) for row in table("docs/trace-format.md", "kind | content")]
    assert kinds == list(FrameKind)
    listed = [row[0] for row in table("docs/trace-format.md", "column | of an event")]
    assert len(listed) == columns.COLUMNS
    assert [getattr(columns, name.upper()) for name in listed] == list(range(columns.COLUMNS))


def test_the_ends_of_names_that_a_trace_is_exported_to_are_in_the_table() -> None:
    assert sorted(names("docs/how-to/find-where-memory-goes.md", "end of the name")) == sorted(
        EXPORTS
    )


def test_the_schedules_of_a_replay_are_in_the_table() -> None:
    [listed] = re.findall(
        r'\{"(\w+)", "(\w+)", "(\w+)"\}\}', text_of("experiments/trace/sources/measure.hpp")
    )
    assert names("docs/how-to/record-a-program.md", "schedule |") == list(listed)


def test_the_words_and_quantities_of_a_server_are_in_their_tables() -> None:
    listed = names("docs/how-to/measure-a-server.md", "word | stands for")
    described = text_of("python/heapwise/catalog/recipes.py").split("The words may hold")[1]
    known = set(re.findall(r"\{(\w+)\}", described.split('"""')[0])) - {"recipe"}
    assert {name.strip("{}") for name in listed} == known
    memory = names("docs/how-to/measure-a-server.md", "quantity | meaning")
    assert sorted(memory) == sorted(
        q.name for q in QUANTITIES if q.unit == "bytes" and q.name != "mean_memory"
    )


def test_the_generators_and_recipes_of_servers_are_named() -> None:
    page = "docs/how-to/measure-a-server.md"
    rows = table(page, "generator |")
    listed = {
        name: row[1] != "-"
        for row in rows
        for name in re.findall(r"[a-z][\w-]+|k6", re.sub(r" [\d.]+", "", row[0]))
    }
    assert listed == {name: each.has_schedule for name, each in GENERATORS.items()}
    [first, others] = re.findall(r"--recipe (\w+) +# also (.*)", text_of(page))[0]
    known = {path.parent.name for path in (ROOT / "recipes").glob("*/recipe.toml")}
    assert {first, *others.split(", ")} == known


def test_the_recipes_of_peers_are_in_the_table() -> None:
    known = typing.get_args(typing.get_type_hints(PeerBuild)["recipe"])
    listed = [row[0].strip("`") for row in table("docs/how-to/add-peer.md", "recipe |")]
    assert listed == list(known)


def test_the_short_options_of_compare_are_options() -> None:
    app: Any = typer.main.get_command(build_app())
    known = {name for each in app.commands["compare"].params for name in each.opts}
    listed = [name.split()[0] for name in names("docs/how-to/compare-builds.md", "option |")]
    assert len(listed) > 5
    assert set(listed) - known - set(NO_SHELL) == set()


def test_the_verdicts_of_a_row_and_of_a_conclusion_are_in_their_tables() -> None:
    of_row = typing.get_args(typing.get_type_hints(Row)["verdict"])
    listed = [
        word for row in table("docs/methods.md", "word | when") for word in row[0].split(", ")
    ]
    assert sorted(listed) == sorted({*of_row} - {"baseline"})
    assert [row[0] for row in table("docs/methods.md", "verdict | when")] == list(VERDICTS)


def test_each_question_of_the_simulation_has_a_promise_in_the_table() -> None:
    """Two kinds of promises with one question have a row each."""
    asked = {(promise.question, promise.low, promise.high) for promise in promises().values()}
    assert len(table("docs/methods.md", "promise | bound")) == len(asked)


def test_the_profiles_and_their_libraries_are_in_the_tables() -> None:
    profiles = re.findall(r'name = "(\w+)"', text_of("include/heapwise/detail/heap_profile.hpp"))
    endings = {"default": ""}
    libraries = {name: f"libheapwise-malloc{endings.get(name, f'-{name}')}.so" for name in profiles}
    chosen = table("docs/how-to/choose-a-profile.md", "your program |")
    assert {row[1].strip("`"): row[2].strip("`") for row in chosen} == libraries
    used = table("docs/how-to/use-the-heap.md", "file | profile")
    assert {row[1].strip("`"): row[0].strip("`") for row in used} == libraries
    [defined] = re.findall(r"^\| profile \| (.*) \|$", text_of("docs/glossary.md"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", defined)) == set(profiles)


def test_the_members_and_kinds_of_a_report_of_a_fault_are_in_the_table() -> None:
    source = text_of("src/heap/faults/fault_report.cpp")
    inner = {"thread", "stack", "begin", "end", "offset", "file"}
    written = set(re.findall(r'\\"(\w+)\\": ', source)) - inner | set(
        re.findall(r'(?:add_member|add_stack)\(\w+, "(\w+)"', source)
    )
    rows = table("docs/how-to/choose-a-profile.md", "member |")
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(listed) == sorted(written)
    [kinds] = [row[1] for row in rows if row[0] == "`kind`"]
    known = names_of_struct("src/heap/faults/fault_report.cpp", "names = {", "};", r'"([\w-]+)"')
    assert re.findall(r"`([\w-]+)`", kinds) == known


def test_the_numbers_of_the_heap_are_in_the_table() -> None:
    rows = re.findall(
        r'\{"([^"]+)", "\w+", &heapwise_malloc_statistics::(\w+),',
        text_of("src/heap/front/statistics.cpp"),
    )
    members = names_of_struct(
        "include/heapwise/malloc.h",
        "typedef struct heapwise_malloc_statist",
        "}",
        r"^  size_t (\w+);",
    )
    listed = [
        (row[0], row[1].strip("`")) for row in table("docs/how-to/use-the-heap.md", "on the page |")
    ]
    assert listed == rows
    assert {member for _, member in listed} == set(members)


def test_the_defaults_of_the_heap_are_in_the_table() -> None:
    rows = table("docs/how-to/use-the-heap.md", "option |")
    listed = {re.sub(r"`HEAPWISE_MALLOC_(\w+)=.*", r"\1", row[0]).lower(): row[1] for row in rows}
    source = text_of("src/heap/base/options.hpp")
    declared = r"^  (?:bool|std::uint32_t) (\w+) = (\w+);"
    for name, value in re.findall(declared, source, re.MULTILINE):
        words = {"false": "`0`", "true": "`1`"}
        if name in listed and name != "shards":
            assert listed[name] == words.get(value, f"`{value}`"), name
    [sampled] = re.findall(r"guard_every = chosen_profile\.keeps_states \? (\d+) : 0", source)
    assert listed["guard_every"] == f"`{sampled}`; `0` in `default`"


def test_the_defaults_of_the_collector_are_in_the_table() -> None:
    source = text_of("src/gc/base/settings.hpp") + text_of("src/gc/base/options.cpp")
    listed = {
        row[0].strip("`").removeprefix("HEAPWISE_GC_"): row[2]
        for row in table("docs/how-to/use-the-collector.md", "variable |")
    }
    [markers] = re.findall(r"default_markers = (\d+)", source)
    [divisor] = re.findall(r"free_space_divisor = (\d+)", source)
    assert listed["MARKERS"] == f"processors, at most {markers}"
    assert listed["FREE_SPACE_DIVISOR"] == divisor
    for name in ("interior", "find_leaks", "debug", "stats"):
        assert re.search(rf"bool {name} = false", source), name
    assert {listed[name] for name in ("INTERIOR_POINTERS", "FIND_LEAKS", "DEBUG", "STATS")} == {"0"}


def test_the_policies_are_in_the_table_of_the_readme() -> None:
    assert set(names("README.md", "policy |")) == policies()


def policies() -> set[str]:
    """The types of ``thread/`` that have a core."""
    return {
        path.stem
        for path in (ROOT / "include/heapwise/thread").glob("*.hpp")
        if "::core" in path.read_text(encoding="utf-8")
    }


def headings(page: str, first: str) -> list[str]:
    """The names in the heading of a table whose first column has no heading."""
    [heading] = [line for line in text_of(page).splitlines() if line.startswith(f"| | {first}")]
    return re.findall(r"`(\w+)`", heading)


def test_the_policies_checkings_and_sources_of_pools_are_in_their_tables() -> None:
    page = "docs/how-to/use-pools.md"
    assert set(headings(page, "`unsynchronized`")) == policies()
    checkings = {
        "foreign_checked",
        *re.findall(
            r"^(?:struct|class) (\w+) : (?:public )?foreign_checked \{",
            text_of("include/heapwise/checking.hpp") + text_of("include/heapwise/sanitized.hpp"),
            re.MULTILINE,
        ),
    } | {"checked"}
    assert set(headings(page, "`trusting`")) == checkings
    sources = {
        name
        for folder in ("include/heapwise", "include/heapwise/source")
        for path in (ROOT / folder).glob("*.hpp")
        for name in re.findall(
            r"^class (\w+) final : public block_source",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    }
    listed = {row[0].strip("`").removesuffix("()") for row in table(page, "source |")}
    assert listed == sources - {"fake_blocks"} | {"os_blocks"}


def test_the_debian_packages_are_in_the_table() -> None:
    built = re.findall(
        r"^\s*debian_package\(\w+ (\S+) ", text_of("cmake/debian.cmake"), re.MULTILINE
    )
    listed = [row[0].strip("`") for row in table("docs/how-to/install.md", "package | files")]
    assert sorted(listed) == sorted(built)


def test_the_comments_that_build_an_experiment_are_in_the_table() -> None:
    listed = {
        name
        for row in table("docs/how-to/add-experiment.md", "comment |")
        for name in re.findall(r"`// ([a-z ]+):", row[0])
    }
    [known] = re.findall(
        r'HEAPWISE_DECLARATION "\^// \(([^)]+)\)', text_of("cmake/experiment_declarations.cmake")
    )
    assert listed == set(known.split("|"))
    choices = {
        name
        for row in table("docs/how-to/add-experiment.md", "comment |")
        for name in re.findall(r"`// build: (\w+)`", row[0])
    }
    read = re.findall(r"if\((\w+) IN_LIST choices", text_of("cmake/experiments.cmake"))
    assert choices == set(read)


def test_the_pages_have_the_oldest_python() -> None:
    [contributing] = re.findall(r"wheels for Python (3\.\d+) to", text_of("CONTRIBUTING.md"))
    [fleet] = re.findall(
        r"need Python (3\.\d+) or newer", text_of("docs/how-to/measure-on-many-machines.md")
    )
    assert contributing == fleet
    assert f'requires-python = ">={fleet}"' in text_of("pyproject.toml")


def test_the_oldest_glibc_of_the_wheel_is_that_of_the_debian_packages() -> None:
    [oldest] = re.findall(r"runs on x86-64 with glibc ([\d.]+)", text_of("docs/how-to/install.md"))
    assert f'"libc6 (>= {oldest})"' in text_of("cmake/debian.cmake")


def test_the_default_time_of_a_comparison_is_what_readme_and_help_say() -> None:
    numbers = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
    [word] = re.findall(r"A comparison takes (\w+) minutes", text_of("README.md"))
    [digit] = re.findall(r"which is (\d+) minutes by default", compare.__doc__ or "")
    assert {numbers[word] * 60, int(digit) * 60} == {DEFAULT_TIME_S}


def test_the_readme_has_the_number_of_small_experiments() -> None:
    [number] = re.findall(r"\[(\d+) small ones\]", text_of("README.md"))
    assert int(number) == len(list((ROOT / "docs/experiments").glob("*/*.md")))


def test_the_readme_has_the_number_of_languages() -> None:
    """A row of another build or version has the name of its language in front, or that of its
    implementation."""
    languages = {"cpython": "python", "pypy": "python", "luajit": "lua"}
    [number] = re.findall(r"\[binary trees\]\(\S+\) in (\d+) languages", text_of("README.md"))
    folders = [path.parent.name for path in (ROOT / "trees").glob("*/rows.toml")]
    rows = {re.findall("^[a-z]+", name)[0] for name in folders}
    assert int(number) == len({languages.get(name, name) for name in rows})


def test_the_published_reports_are_listed() -> None:
    [sentence] = re.findall(
        r"The reports are ([^;]+);", text_of("docs/how-to/reproduce-a-report.md")
    )
    assert re.findall(r"`([\w-]+)`", sentence) == sorted(
        path.stem for path in (ROOT / "published").glob("*.toml")
    )


def test_the_order_of_locks_is_that_of_the_code() -> None:
    """Each lock of ``lock_all`` by the words of the page."""
    words = {
        "starting": "start",
        "owned_heaps": "heaps of their own",
        "caches": "list of idle caches",
        "bins": "bins, by shard and class",
        "large_quarantines": "quarantines of large blocks (`hardened`)",
        "large_stocks": "stocks of large blocks",
        "mixed_spans": "mixed spans",
        "purging": "purge",
        "space": "space",
        "batches": "batches",
    }
    body = text_of("src/heap/front/start.cpp").split("void lock_all() {")[1].split("\n}")[0]
    taken = re.findall(
        r"lock_(\w+)\(\)|(starting)\.lock|the_(\w+quarantines|\w+stocks)\)"
        r"|the_(mixed_spans)\.|\.(purging)\(\)|the_(space)\.lock",
        body,
    )
    chain = text_of("docs/how-it-works.md").split("    start -> ")[1].split("\n\n")[0]
    listed = re.split(r"\s+-> ", "start -> " + chain)
    assert listed == [words["".join(names)] for names in taken]


def test_the_how_tos_are_listed_where_contributing_says_how_to_add_something() -> None:
    listed = set(re.findall(r"\[how-to/(add-[\w-]+)\]", text_of("CONTRIBUTING.md")))
    assert listed == {path.stem for path in (ROOT / "docs/how-to").glob("add-*.md")}
