"""Finds where C++ declares parameters and variables, by the shape of the text.

A name is declared where it follows a type: a word that is not a statement, the end of a template's
arguments, or a ``*`` or ``&`` that touches one of its neighbours only, as clang-format writes those
of types. Fields and functions of classes are left out: a reader meets them behind their object. The
second name of ``int first, second;`` is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from names.tokens import Token, tokens

NOT_TYPES = {
    "return",
    "case",
    "else",
    "delete",
    "throw",
    "co_return",
    "co_yield",
    "goto",
    "new",
    "and",
    "or",
    "not",
    "sizeof",
    "do",
    "using",
    "namespace",
    "class",
    "struct",
    "enum",
    "union",
    "typename",
    "operator",
}
CLASSES = {"class", "struct", "union", "enum"}
BEFORE_CLASSES = {
    "static",
    "constexpr",
    "constinit",
    "inline",
    "const",
    "typedef",
    "extern",
    "friend",
    "public",
    "private",
    "protected",
    ":",
}
CLOSING = {")", "]", "}"}
BEHIND_NAMES = {",", ")", "=", "{", ";", "[", ":", "(", ">"}
NAMESPACE = ""


@dataclass(frozen=True)
class Declaration:
    """line: counted from 1. name: what is declared there."""

    line: int
    name: str


def declarations(text: str, names: set[str]) -> Iterator[Declaration]:
    """Each parameter and each variable with one of these names."""
    source = _Source(text, list(tokens(text)))
    scopes = [NAMESPACE]
    statement = 0
    for at, token in enumerate(source.tokens):
        if token.text in {"(", "[", "{"}:
            scopes.append(source.scope(statement, at))
        elif token.text in CLOSING and len(scopes) > 1:
            scopes.pop()
        elif token.text in names and source.declares(at, scopes[-1]):
            yield Declaration(text.count("\n", 0, token.begin) + 1, token.text)
        if token.text in {";", "{", "}"}:
            statement = at + 1


@dataclass(frozen=True)
class _Source:
    text: str
    tokens: list[Token]

    def scope(self, statement: int, at: int) -> str:
        """What the bracket ``at`` opens: the bracket, "class" or NAMESPACE."""
        if self.tokens[at].text != "{":
            return self.tokens[at].text
        first = self._first_of(statement, at)
        if first in {"namespace", "extern"}:
            return NAMESPACE
        return "class" if first in CLASSES else "{"

    def _first_of(self, statement: int, end: int) -> str:
        """The first word of a statement that says what it is."""
        while statement < end:
            word = self.tokens[statement].text
            if word == "template":
                statement = self._behind_angles(statement + 1, end)
            elif word in BEFORE_CLASSES and self.tokens[statement + 1].text not in {"{", '"C"'}:
                statement += 1
            else:
                return word
        return ""

    def _behind_angles(self, at: int, end: int) -> int:
        depth = 0
        while at < end:
            depth += {"<": 1, ">": -1}.get(self.tokens[at].text, 0)
            at += 1
            if depth == 0:
                break
        return at

    def declares(self, at: int, scope: str) -> bool:
        """Whether the name ``at`` is a parameter or a variable there."""
        if scope == "[":
            return self._is_bound(at)
        if scope == "class" or at == 0 or at + 1 == len(self.tokens):
            return False
        behind = self.tokens[at + 1].text
        is_function = scope == NAMESPACE and behind == "("
        return behind in BEHIND_NAMES and not is_function and self._follows_type(at)

    def _follows_type(self, at: int) -> bool:
        before = self.tokens[at - 1]
        if before.is_word:
            return before.text not in NOT_TYPES
        touches_type = not self.text[before.begin - 1].isspace()
        touches_name = not self.text[before.end].isspace()
        if before.text in {"*", "&", "&&"}:
            return touches_type != touches_name and at > 1 and self._ends_type(at - 2)
        if before.text == ">":
            return touches_type and not touches_name
        return before.text == "..."

    def _ends_type(self, at: int) -> bool:
        token = self.tokens[at]
        return token.text in {">", "*"} or (token.is_word and token.text not in NOT_TYPES)

    def _is_bound(self, at: int) -> bool:
        """Whether the brackets are those of ``auto [first, second]``."""
        while self.tokens[at].text != "[":
            at -= 1
        return self.tokens[at - 1].text in {"auto", "&", "&&"}
