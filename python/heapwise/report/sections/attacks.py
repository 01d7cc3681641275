"""Attacks: what each allocator made of them."""

from __future__ import annotations

from heapwise.document import Passage
from heapwise.report.view import View
from heapwise.study.attacks.tell import attack_passages

TITLE, ORDER = "Attacks", 19


def tell(view: View) -> list[Passage]:
    return attack_passages(view.result)
