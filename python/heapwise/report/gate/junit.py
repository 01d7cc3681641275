"""JUnit XML: a test case for each limit. A regression is a failure, and what cannot be told is
skipped, as no test has failed there."""

from __future__ import annotations

import xml.etree.ElementTree as Xml

from heapwise.evidence.judged_limits import OF_MALLOC
from heapwise.model import GateResult, GateRow
from heapwise.study.gate.tell import site_words

ALLOWED = {0x9, 0xA, 0xD}
"""The characters, of those below a space, those that XML 1.0 can hold."""


def write(gate: GateResult) -> str:
    count = {
        word: str(sum(row.verdict == word for row in gate.rows))
        for word in ("regressed", "cannot tell")
    }
    suite = Xml.Element(
        "testsuite",
        name="heapwise gate",
        tests=str(len(gate.rows)),
        failures=count["regressed"],
        errors="0",
        skipped=count["cannot tell"],
    )
    for row in gate.rows:
        _case(suite, gate, row)
    suites = Xml.Element("testsuites")
    suites.append(suite)
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: Xml.Element, gate: GateResult, row: GateRow) -> None:
    case = Xml.SubElement(
        suite, "testcase", name=row.title, classname=_text(f"heapwise.gate.{gate.program}")
    )
    if row.verdict == "regressed":
        failure = Xml.SubElement(case, "failure", type="regressed", message=_text(row.sentence))
        sites = site_words(gate) if row.metric in OF_MALLOC else []
        failure.text = _text("\n".join([row.sentence, *(f"More by {each}" for each in sites)]))
    elif row.verdict == "cannot tell":
        Xml.SubElement(case, "skipped", message=_text(row.sentence))
    else:
        Xml.SubElement(case, "system-out").text = _text(row.sentence)


def _text(words: str) -> str:
    """Without what XML cannot hold: names of files may have it."""
    return "".join(
        letter if ord(letter) >= 0x20 or ord(letter) in ALLOWED else "?"
        for letter in words.encode(errors="replace").decode()
    )
