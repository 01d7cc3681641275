"""What resisting attacks costs on a program, beside what it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heapwise.catalog import installed_peers

PROGRAM = ("perl", "-e", "my %h; $h{$_ % 5000} .= $_ for 1..200000; print scalar keys %h")


@pytest.mark.usefixtures("built_native")
def test_price_stands_beside_what_is_stopped(heapwise: Any, tmp_path: Path) -> None:
    options = ("compare", "--protection", "--warmup", "0", "--rounds", "3", "--force")
    first = heapwise(*options, "--", *PROGRAM).stdout
    assert "heapwise run attacks, once in this store" in first
    heapwise("run", "attacks/frees", "--smoke")
    said = heapwise(*options, "--", *PROGRAM).stdout
    table = said[said.index("resists") :].splitlines()
    words = {line.split()[0]: line.split() for line in table[1:] if line.split()}
    expected = {"glibc", "heapwise"} | {
        peer.name for peer in installed_peers() if peer.protection != "plain"
    }
    assert expected <= words.keys()
    assert words["heapwise-hardened"][1] == "hardened"
    assert words["heapwise-hardened"][-3:] == ["3", "0", "0"]
    [both] = [line for line in table if "heapwise report" in line]
    page = tmp_path / "page.html"
    heapwise("report", *both.split()[-2:], "--output", str(page))
    assert "Protection and its price" in page.read_text()


def test_two_choices_of_allocators_are_refused(heapwise: Any) -> None:
    done = heapwise("compare", "--protection", "--allocators", "glibc", "--", "true")
    assert done.returncode == 2
    assert "--protection chooses the allocators" in " ".join(done.stderr.split())


@pytest.mark.usefixtures("built_native")
def test_attacks_are_not_ranked(heapwise: Any) -> None:
    said = heapwise(
        "run",
        "attacks/reads",
        "--set",
        "attack=known_neighbour",
        "--set",
        "size=128",
        "--set",
        "attempts=2",
        "--rounds",
        "1",
    ).stdout
    assert "endings of attacks are not ranked" in said
    assert "Fastest" not in said
    assert "cannot tell" not in said
