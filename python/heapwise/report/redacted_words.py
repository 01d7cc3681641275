"""The words of a command line that cannot hold anything of the user's: an allow-list.

A word that is not on it becomes a mark, so a new option hides its value until somebody says here,
or with its form, that the value is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args, get_type_hints

from heapwise.model import Run
from heapwise.options import Form, Option, Options, declared
from heapwise.options.option import COMPARE, EXPERIMENTS, MEASURING

HIDDEN = "(redacted)"

UNIT = r"(?:ns|us|µs|ms|min|s|m|h|d|%|[kKMGT]i?B?)"
NUMBERS = re.compile(rf"-?\d[\d.,:-]*(?:{UNIT}[,.:-]?\d[\d.,:-]*)*{UNIT}?")
"""A number, a duration, or several with commas between them."""

HARMLESS = re.compile(r"[\w.@+*?/-]+")
"""A name of an allocator or an experiment, or a pattern for names."""

NO_PROGRAM = re.compile(r"[=\s;|&<>$`'\"()]")
"""A shell's text and an assignment, which are not the name of a program."""

MIXED = (COMPARE, *EXPERIMENTS)
"""Verbs that take options after the first word that is none."""


def program_alone(words: Sequence[str]) -> list[str]:
    """The program stays. Variables that are set before it, and its arguments, become marks."""
    found = list[str]()
    shown = False
    for word in words:
        is_assignment = not shown and bool(re.match(r"[A-Za-z_]\w*=", word))
        keeps = not shown and not NO_PROGRAM.search(word)
        found.append(word if keeps else HIDDEN)
        shown = shown or not is_assignment
    return found


def redacted_command_line(run: Run) -> list[str]:
    """As many words as before. After ``--`` only the program stays."""
    words = run.command_line
    own = words[: words.index("--")] if "--" in words else words
    found = [Path(word).name for word in own[:1]]
    verb = next((word for word in own[1:2] if word in MEASURING), "")
    if verb:
        found += [verb, *_Reader(run, verb).kept(own[2:])]
    found += [HIDDEN] * (len(own) - len(found))
    if len(own) == len(words):
        return found
    return [*found, "--", *_tail(run, words[len(own) + 1 :])]


def _tail(run: Run, words: list[str]) -> list[str]:
    """Only the words of the one program that was measured are known to begin with a program."""
    plan = run.plan
    typed = (plan.builds[0].as_typed if plan.builds else []) or plan.options.as_typed
    if len(plan.builds) < 2 and words == (typed or plan.command):
        return program_alone(words)
    return [HIDDEN] * len(words)


@dataclass(frozen=True)
class _Reader:
    run: Run
    verb: str

    def kept(self, words: Sequence[str]) -> Iterator[str]:
        """One word for each."""
        flags = dict(self._flags())
        rest = list(words)
        while rest:
            word = rest.pop(0)
            flag, equals, value = word.partition("=")
            if found := flags.get(flag):
                field, option = found
                if equals:
                    yield f"{flag}={self._shown(field, option, value)}"
                    continue
                yield flag
                if _takes_value(field) and rest:
                    yield self._shown(field, option, rest.pop(0))
            elif self._is_experiment(word):
                yield word
            else:
                yield HIDDEN
                if self.verb not in MIXED:
                    yield from [HIDDEN] * len(rest)
                    return

    def _flags(self) -> Iterator[tuple[str, tuple[str, Option]]]:
        for field, option in declared(Options, self.verb).items():
            for spelling in option.flags:
                for flag in spelling.split("/"):
                    yield flag, (field, option)

    def _shown(self, field: str, option: Option, value: str) -> str:
        return value if self._is_harmless(field, option, value) else HIDDEN

    def _is_harmless(self, field: str, option: Option, value: str) -> bool:
        if field == "settings":
            return self._is_setting(value)
        if option.form is Form.WORDS or field == "baseline":
            return all(map(self._is_subject, value.split(",")))
        if option.form is Form.PLAIN and not _KINDS[field] & {int, float}:
            return False
        return bool(NUMBERS.fullmatch(value))

    def _is_subject(self, word: str) -> bool:
        plan = self.run.plan
        names = [subject.name for subject in plan.subjects]
        names += [subject.peer.name for subject in plan.subjects if subject.peer]
        names += [peer.name for peer in self.run.missing_peers]
        return word == "all" or _is_one_of(word, names)

    def _is_experiment(self, word: str) -> bool:
        plan = self.run.plan
        return self.verb in EXPERIMENTS and _is_one_of(word, [*plan.experiments, plan.report])

    def _is_setting(self, text: str) -> bool:
        """``threads=1,2`` of an experiment, which the cells of the run show, too."""
        name, _, values = text.partition("=")
        known = {str(value) for value in self.run.plan.parameters.get(name, [])}
        declared_here = any(
            parameter.name == name
            for experiment in self.run.experiments
            for parameter in experiment.parameters
        )
        return declared_here and all(
            value in known or bool(NUMBERS.fullmatch(value)) for value in values.split(",")
        )


def _is_one_of(word: str, names: Sequence[str]) -> bool:
    """A name, or a pattern for one. A path is neither."""
    return bool(HARMLESS.fullmatch(word)) and any(
        fnmatchcase(name, word) for name in names if not name.startswith("/")
    )


def _kinds() -> dict[str, set[type]]:
    """Field -> the types of its values. Those of a list count, for ``ignored_exits``."""
    return {
        name: {kind, *get_args(kind)} if get_args(kind) else {kind}
        for name, kind in get_type_hints(Options).items()
    }


_KINDS = _kinds()


def _takes_value(field: str) -> bool:
    return bool not in _KINDS[field]
