"""docs/architecture.md says what the checkers of dependencies are told, and names what exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import check_layers

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def layers_of_the_checker() -> list[list[str]]:
    """Lowest first, the packages of each in order."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each["type"] == "layers"]
    return [sorted(layer.split(" | ")) for layer in reversed(layers)]


def test_the_dependencies_of_cpp_are_those_of_the_checker() -> None:
    """If not: python tools/check_layers.py --markdown."""
    assert check_layers.markdown() in TEXT


def test_the_packages_that_may_make_system_calls_are_named() -> None:
    [sentence] = re.findall(r"^Only the packages (.*) may include headers for system", TEXT, re.M)
    assert set(re.findall(r"`(\w+)`", sentence)) == check_layers.PACKAGES_WITH_SYSTEM_CALLS


def test_the_dependencies_of_python_are_those_of_the_checker() -> None:
    [line] = re.findall(r"^    {lazy, options}.*?cli$", TEXT, re.MULTILINE | re.DOTALL)
    layers = [sorted(re.findall(r"\w+", layer)) for layer in line.split("->")]
    assert layers == layers_of_the_checker()


def test_each_python_package_has_a_task() -> None:
    table = TEXT[TEXT.index("| package | task |") :]
    named = {
        name
        for row in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named == {name for layer in layers_of_the_checker() for name in layer}
    package = ROOT / "python" / "heapwise"
    there = {
        path.stem
        for path in package.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert named == there - {"__init__", "__main__"}


def test_each_folder_is_there_and_named() -> None:
    table = TEXT[TEXT.index("| folder | content |") : TEXT.index("## C++ packages")]
    named = re.findall(
        r"`([\w/<>.-]+)`",
        "\n".join(row.split("|")[1] for row in table.splitlines()[2:] if row.startswith("|")),
    )
    folders = {name.split("<")[0].rstrip("/") for name in named}
    assert [name for name in folders if not (ROOT / name).is_dir()] == []
    not_ours = {"build", "dist", "cmake", "docs"}  # what was made, and what every project has
    top = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}
    assert {name.split("/")[0] for name in folders} == top - not_ours
