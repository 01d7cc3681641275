"""Ways of writing that readers stumble over: each with what to write instead.

The rules are those that a program can check without taking a right sentence for a wrong one. Text
of others (licences, published reports, stored data) and pages of results that a command wrote, or
quote from one, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docs.links import without_code
from docs.tree import TextFile, line_of

LEFT_ALONE = re.compile(
    r"^(requirements\.lock|.*LICENSE|schema/|published/|tests/data/(?:sarif|pages)/"
    r"|tools/docs/language\.py"
    r"|tests/lab/(tools/test_check_language|native/test_texts)\.py)"
    r"|\.(json|svg|csv|lock|html|js)$"
)

RESULTS, WRITTEN_BY_A_COMMAND = "docs/results/", "<!-- Made by "

COMPARED = (
    "longer|more|less|slower|faster|larger|smaller|worse|better|different|shorter|earlier"
    "|later|harder|other|such|one"
)


@dataclass(frozen=True)
class Rule:
    """pattern: what is found. instead: what to write. only: files that it is about, all if it is
    None."""

    pattern: re.Pattern[str]
    instead: str
    only: re.Pattern[str] | None = None

    def is_about(self, name: str) -> bool:
        return self.only is None or bool(self.only.match(name))


PAGES = re.compile(r"README\.md|CONTRIBUTING\.md|SECURITY\.md|docs/(?:how-to/|design/)?[\w-]+\.md$")
"""Which readers take for the whole of the project, and read once."""

DOCSTRING_OF = re.compile(r'(?:^|[ ])"""Of ', re.MULTILINE)

RULES = (
    Rule(
        DOCSTRING_OF,
        'a sentence with a subject: "The width of ..."',
        re.compile(r"(?:python|tools|workshop)/.*\.py$"),
    ),
    Rule(
        re.compile(r"\b(?:is|are|was|were) no (?!(?:" + COMPARED + r")\b)[a-z]+"),
        "is not a ..., are not ...",
    ),
    Rule(re.compile(r"\b[Ww]ho(?:so)?ever\b"), "the thread that ..., a user who ..."),
    Rule(re.compile(r"\b[Tt]hat which\b"), "what it is: the block that ..."),
    Rule(re.compile(r"\b[Ss]hall\b"), "must or should"),
    Rule(
        re.compile(
            r"\bso (?:many|much|long) (?:bytes|threads|operations|rounds|turns|steps|units"
            r"|times|ticks|spans|lines|time|processors)\b"
        ),
        "this many, this long",
    ),
    Rule(re.compile(r"\b[Ff]or want of\b"), "because ... is missing"),
    Rule(re.compile(r"\b(?:for|by|of) who\b"), "the thread that ..., a user who ..."),
    Rule(re.compile(r"\b[Ww]hat is not an? [a-z]+"), "an address that is not a ..."),
    Rule(re.compile(r"\bso (?:many|much|long)(?=[\"';:.,]| of )"), "this many, this long"),
    # The glossary's word; "repetitions" is a key of Google Benchmark.
    Rule(re.compile(r"\b[Rr]epetitions?\b(?!\x22)"), "repeat"),
    Rule(re.compile(r"\b[Bb]ut for\b"), "except for"),
    Rule(re.compile(r"\b[Aa]new\b"), "again"),
    Rule(
        re.compile(r"\b[Ww]homever\b|\b(?:by|of|to|for) whom (?=[a-z]+s\b)"),
        "the thread that ..., a user who ...",
    ),
    Rule(
        re.compile(
            r"\b(?:ails?|there(?:of|in|upon)|where(?:of|in|upon)|whence|lest|[Hh]ence"
            r"|nought|naught)\b"
        ),
        "a word of today",
    ),
    Rule(
        re.compile(
            r"(?:^|(?<=[.:] )|(?<=// )|(?<=\x22\x22\x22))"
            r"(?:Should|Were|Had) (?:an?|any|it|no|nobody|one|that|the|they|this)\b"
            r"(?=[^?]*[.:])",
            re.MULTILINE,
        ),
        "If ...",
    ),
    Rule(
        re.compile(
            r"\b(?:memory|file|pages?|process(?:es)?|it|they|others?) may not "
            r"(?:be (?:looked|opened|read|touched|written)|be called|open|read|write)\b"
        ),
        "cannot, must not",
    ),
    Rule(
        re.compile(
            r"(?:^|(?<=[.] )|(?<=^- ))What "
            r"(?:[^.?!|:\n]|\n(?!\n)|[.:](?!\s)){1,200}\.(?=\s)",
            re.MULTILINE,
        ),
        "the thing that acts first: The output of the program ...",
        only=PAGES,
    ),
    Rule(re.compile(r"\b(?:can|could|may|cannot|must|to) be had\b"), "is available, can get"),
    Rule(re.compile(r"\b(?:is|are|was|were) said\b(?! to)"), "the report says ..., is written"),
    # The number of a document that readers do not have. Stored pages have it.
    Rule(re.compile(r"\bseed 0\d\d\b|\bthe seed's\b"), "the title of the report"),
    # A package is called breathe: there a quotation mark or its version follows.
    Rule(
        re.compile(
            r"\b(?:purse|breathes?(?!\x22|==)|confess(?:es|ed)?|accuses?|accused"
            r"|window of mercy|liar|guilty|innocent|forerunner)\b"
        ),
        "the term of the field",
    ),
)

TEST_NAME = re.compile(r"\bdef (test_\w+)|\bTEST_CASE\w*\(\s*\"([^\"]+)\"")
"""The name of a test is a sentence: in Python its words are joined by ``_``."""

OF_TEST_NAMES = (
    Rule(
        re.compile(r"\b(?:is|are|was|were) no (?!(?:" + COMPARED + r")\b)[a-z]+"),
        "is not a ..., are not ...",
    ),
    Rule(re.compile(r"(?<!there )\b(?:is|are|has|have) none\b"), "has no ..., is not a ..."),
    Rule(re.compile(r"\b(?:is|are) said\b"), "is reported"),
    Rule(
        re.compile(r"^(?:test )?who\b|(?:\band|\bbut|\bif|\bonly|\bno matter|,) who\b"),
        "the thread that ..., a user who ...",
    ),
    Rule(re.compile(r"^(?:test )?what (?!why\b)"), "the thing: a refused cell says why"),
)

THERE = re.compile(r"\b[Tt]here[\s/#*\"'|]*$")
"""``there is no interval`` is plain English, also where a line ends in between."""


def offences(file: TextFile) -> Iterator[str]:
    """``name:line: "words": write ...`` for each place."""
    text = _own_text(file)
    for rule in (rule for rule in RULES if rule.is_about(file.name)):
        for match in rule.pattern.finditer(text):
            if not THERE.search(text[max(0, match.start() - 40) : match.start()]):
                line = line_of(text, match.start())
                yield f'{file.name}:{line}: "{match[0]}": write {rule.instead}'
    if file.name.startswith("tests/"):
        yield from _test_names(file, text)


def _own_text(file: TextFile) -> str:
    """Without the words of others, and of programs: a page of results quotes what they printed."""
    if LEFT_ALONE.search(file.name):
        return ""
    if file.name.startswith(RESULTS):
        return "" if file.text.startswith(WRITTEN_BY_A_COMMAND) else without_code(file.text)
    return file.text


def _test_names(file: TextFile, text: str) -> Iterator[str]:
    for name in TEST_NAME.finditer(text):
        sentence = (name[1] or name[2]).replace("_", " ")
        for rule in (rule for rule in OF_TEST_NAMES if rule.is_about(file.name)):
            match = rule.pattern.search(sentence)
            if match and not THERE.search(sentence[: match.start()]):
                line = line_of(text, name.start())
                yield f'{file.name}:{line}: "{match[0]}": write {rule.instead}'
