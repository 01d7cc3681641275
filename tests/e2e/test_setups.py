"""Commands of --setup that build what is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run

pytestmark = pytest.mark.usefixtures("built_native")

BUILD = "printf '#!/bin/sh\\necho {n}\\n' > %s && chmod +x %s"


def build(file: str) -> str:
    return BUILD % (file, file)


@pytest.mark.parametrize("exists", [False, True])
def test_a_setting_is_never_measured_with_the_build_of_another(
    heapwise: Any, tmp_path: Path, exists: bool
) -> None:
    if exists:
        (tmp_path / "p").write_text("#!/bin/sh\necho before\n")
        (tmp_path / "p").chmod(0o755)
    done = heapwise(
        "compare",
        "-r",
        "1",
        "-L",
        "n",
        "10,120",
        "-s",
        build("p"),
        "-c",
        "touch cleaned",
        "./p",
        "./p again",
    )
    said = " ".join(done.stderr.split())
    assert done.returncode == 3, done.stderr
    assert "E034" in said
    assert "n=10 would be measured with what the last one made" in said
    assert "give each setting a file of its own" in said
    assert "p-{n}" in said
    assert (tmp_path / "cleaned").exists()
    assert not (tmp_path / "store" / "runs").exists(), "nothing was measured"


def test_a_file_that_a_command_names_is_not_shared_either(heapwise: Any, tmp_path: Path) -> None:
    done = heapwise(
        "compare", "-r", "1", "-L", "n", "10,120", "-s", "echo {n} > data", "cat data", "head data"
    )
    assert done.returncode == 3
    assert f"{tmp_path / 'data'} is not what --setup echo 10 > data made" in " ".join(
        done.stderr.split()
    )


def test_each_setting_is_measured_with_its_own_build(heapwise: Any, tmp_path: Path) -> None:
    """The programs do not exist before."""
    done = heapwise(
        "compare",
        "-r",
        "2",
        "-w",
        "0",
        "-L",
        "n",
        "10,120",
        "-s",
        build("p-{n}"),
        "./p-{n}",
        "./p-{n} again",
    )
    assert done.returncode in (0, 4), done.stderr
    stored = read_run(tmp_path / "store", "last")
    printed = {
        p.parameters["n"]: p.facts.output_bytes for p in stored.processes if not p.facts.counting
    }
    assert printed == {10: 3, 120: 4}


def test_two_commands_with_one_setup_share_what_it_makes(heapwise: Any) -> None:
    done = heapwise(
        "compare",
        "-r",
        "1",
        "-s",
        "date +%N > data",
        "wc -c data",
        "wc -c ./data",
        "--ignore-output",
    )
    assert done.returncode in (0, 4), done.stderr


def test_a_setup_that_fails_is_named_before_anything_is_measured(
    heapwise: Any, tmp_path: Path
) -> None:
    done = heapwise("compare", "-r", "1", "-s", "echo broken >&2; exit 9", "true", "echo")
    assert done.returncode == 3
    assert "E034" in done.stderr
    assert "broken" in done.stderr
    assert not (tmp_path / "store" / "runs").exists()


def test_a_value_whose_setup_fails_is_left_out_and_the_others_are_measured(
    heapwise: Any, tmp_path: Path
) -> None:
    done = heapwise(
        *("compare", "-r", "2", "-w", "0", "-L", "n", "10,nosuch,120"),
        *("-s", f"[ {{n}} != nosuch ] && {build('p-{n}')}", "./p-{n}", "./p-{n} again"),
    )
    assert done.returncode == 3, done.stderr
    said = " ".join(done.stderr.split())
    assert "n=nosuch is left out: --setup [ nosuch != nosuch ]" in said
    stored = read_run(tmp_path / "store", "last")
    assert {p.parameters["n"] for p in stored.processes} == {10, 120}


def test_a_setup_that_fails_at_every_value_ends_the_comparison(
    heapwise: Any, tmp_path: Path
) -> None:
    done = heapwise("compare", "-r", "1", "-L", "n", "1,2", "-s", "exit {n}", "true", "echo")
    assert done.returncode == 3
    assert "E034" in done.stderr
    assert not (tmp_path / "store" / "runs").exists()
