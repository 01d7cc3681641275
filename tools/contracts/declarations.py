"""The public declarations, each with the comment that covers it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contracts.parse import Node, comment, inner, place

FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXConversionDecl"}
CLASSES = {"CXXRecordDecl", "ClassTemplatePartialSpecializationDecl"}
TEMPLATES = {
    "FunctionTemplateDecl",
    "ClassTemplateDecl",
    "TypeAliasTemplateDecl",
    "VarTemplateDecl",
}
NAMED = {"EnumDecl", "TypedefDecl", "TypeAliasDecl", "VarDecl", "ConceptDecl"}
PARTS = {"core", "depot"}
"""Classes inside a policy that only a pool calls: a concept states the contract of all of them
(``thread_policy`` in concepts.hpp, ``refill_strategy`` in hybrid/refill.hpp)."""

GROUP = re.compile(r"As |Returns: (?:as|see) ")


@dataclass(frozen=True)
class Declaration:
    """comment: its own, or that of the group or overload set that it belongs to.

    returns: whether it is a function with a result.
    """

    file: str
    line: int
    kind: str
    name: str
    comment: str
    returns: bool
    changes: bool


def declarations(nodes: Iterable[Node]) -> Iterator[Declaration]:
    """All public declarations below ``nodes``, in their order."""
    yield from _members(nodes, "", public=True, is_class=False)


def _members(
    nodes: Iterable[Node], scope: str, *, public: bool, is_class: bool
) -> Iterator[Declaration]:
    covered: dict[str, str] = {}
    last = ("", 0)
    last_comment = ""
    for node in nodes:
        if node["kind"] == "AccessSpecDecl":
            public = node["access"] == "public"
        if not public or node.get("isImplicit"):
            continue
        if node["kind"] in {"NamespaceDecl", "LinkageSpecDecl"}:
            if not node.get("name", "").startswith("detail"):
                yield from _members(inner(node), "", public=True, is_class=False)
            continue
        bare = _bare(node)
        if bare is None or _needs_none(bare, is_class):
            continue
        name = scope + bare.get("name", "")
        own = comment(node) or comment(bare)
        file, line = place(node, "begin")
        group = last_comment if last == (file, line - 1) else ""
        if not _covers(group, bare.get("name", "")):
            group = ""
        text = own or covered.get(name) or group
        last, last_comment = place(node, "end"), text
        covered[name] = text
        yield Declaration(file, line, bare["kind"], name, text, _returns(bare), _changes(bare))
        if bare["kind"] in CLASSES:
            yield from _members(
                inner(bare), f"{name}::", public=bare["tagUsed"] != "class", is_class=True
            )


def _covers(group: str, name: str) -> bool:
    """Whether a comment is also meant for a later line of its group: it names the declaration, or
    says that all are as something else. Assignment stands below its constructor."""
    return name == "operator=" or name in group or bool(GROUP.match(group))


def _bare(node: Node) -> Node | None:
    """The class, function or name itself; None for what has no contract."""
    if node["kind"] in TEMPLATES:
        kinds = FUNCTIONS | CLASSES | NAMED
        return next((child for child in inner(node) if child["kind"] in kinds), None)
    return node if node["kind"] in FUNCTIONS | CLASSES | NAMED else None


def _needs_none(bare: Node, is_class: bool) -> bool:
    """Whether the language, or another declaration, says what this one does."""
    if bare["kind"] in CLASSES:
        return not bare.get("completeDefinition") or bare.get("name", "") in PARTS | {""}
    overrides = any(child["kind"] == "OverrideAttr" for child in inner(bare))
    elsewhere = "previousDecl" in bare or "parentDeclContextId" in bare
    of_language = bare.get("explicitlyDeleted") or bare.get("explicitlyDefaulted")
    inside = is_class and bare["kind"] in NAMED - {"EnumDecl"}
    return bool(overrides or elsewhere or of_language or inside)


def _returns(bare: Node) -> bool:
    if bare["kind"] not in FUNCTIONS - {"CXXConstructorDecl"} or bare["name"] == "operator=":
        return False
    takes = any(child["kind"] == "ParmVarDecl" for child in inner(bare))
    return takes and not str(bare["type"]["qualType"]).startswith("void (")


def _changes(bare: Node) -> bool:
    if bare["kind"] not in CLASSES:
        return False
    public = bare["tagUsed"] != "class"
    for node in inner(bare):
        if node["kind"] == "AccessSpecDecl":
            public = node["access"] == "public"
        method = _bare(node)
        if public and method is not None and not node.get("isImplicit") and _is_change(method):
            return True
    return False


def _is_change(method: Node) -> bool:
    of_language = method.get("explicitlyDeleted") or method.get("explicitlyDefaulted")
    constant = re.search(r"\) const\b", str(method.get("type", {}).get("qualType", "")))
    return bool(
        method["kind"] == "CXXMethodDecl"
        and method.get("storageClass") != "static"
        and not of_language
        and not constant
    )
