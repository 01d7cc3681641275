"""The names of subjects, and that no other module takes them apart."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import heapwise
from heapwise.model import (
    Experiment,
    Subject,
    SubjectName,
    SubjectSpec,
    control_name,
    name_with_peer,
    short_name,
)

PACKAGE = Path(heapwise.__file__).parent

TAKES_APART = {
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "removeprefix",
    "removesuffix",
    "startswith",
    "endswith",
    "replace",
    "find",
    "index",
}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mutex", SubjectName("mutex")),
        ("malloc@jemalloc", SubjectName("malloc", peer="jemalloc")),
        (
            "malloc@google-tcmalloc-control",
            SubjectName("malloc", peer="google-tcmalloc", control=True),
        ),
        ("go/GOGC=25", SubjectName("go", point="GOGC=25")),
        ("c/lean@glibc-control", SubjectName("c", "lean", "glibc", control=True)),
    ],
)
def test_a_name_has_the_parts_that_it_was_made_of(text: str, parts: SubjectName) -> None:
    assert SubjectName.parse(text) == parts
    assert str(parts) == text


@given(st.lists(st.sampled_from(["@", "/", "-control", "a", "-", "malloc"])).map("".join))
def test_every_text_is_the_name_of_its_parts(text: str) -> None:
    assert str(SubjectName.parse(text)) == text
    assert str(SubjectName.parse(text, may_be_control=False)) == text


def test_names_are_made_of_others() -> None:
    assert control_name("malloc@glibc") == "malloc@glibc-control"
    assert name_with_peer("malloc", "rpmalloc") == "malloc@rpmalloc"
    assert [
        short_name(name)
        for name in (
            "malloc@rpmalloc",
            "malloc@glibc-control",
            "vector@glibc",
            "malloc",
            "go/GOGC=25",
        )
    ] == ["rpmalloc", "glibc-control", "vector@glibc", "malloc", "go/GOGC=25"]
    name = SubjectName.parse("go/GOGC=25@glibc-control")
    assert (name.measured, name.inner, name.curve) == (
        "go/GOGC=25@glibc",
        "go/GOGC=25",
        "go@glibc-control",
    )


def test_only_a_control_loses_the_end_of_its_name() -> None:
    assert Subject("flow-control", "").parts.inner == "flow-control"
    assert Subject("flow-control", "", control=True).parts.inner == "flow"


def test_a_subject_that_is_named_like_a_control_is_its_own_row() -> None:
    specs = [SubjectSpec(name, "inline", name) for name in ("flow", "flow-control")]
    experiment = Experiment(1, "a/b", "a", "?", "", "", [], [], specs, "flow", 1, 0)
    found = [experiment.spec(name) for name in ("flow", "flow-control", "flow-control-control")]
    assert [spec.name if spec else None for spec in found] == [
        "flow",
        "flow-control",
        "flow-control",
    ]


def test_no_other_module_takes_names_apart() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.stem != "subject_name"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _takes_apart(node) or _makes_a_control(node)
    ]
    assert not found


def _takes_apart(node: ast.AST) -> bool:
    """``name.partition("@")``, ``name.removesuffix("-control")`` and their like."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in TAKES_APART
        and any(
            isinstance(word, ast.Constant)
            and isinstance(word.value, str)
            and ("@" in word.value or word.value.endswith("-control"))
            for word in node.args
        )
    )


def _makes_a_control(node: ast.AST) -> bool:
    """``f"{name}-control"``."""
    return isinstance(node, ast.JoinedStr) and any(
        isinstance(part, ast.Constant) and str(part.value).endswith("-control")
        for part in node.values
    )
