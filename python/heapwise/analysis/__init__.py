"""A stored run in, a ``Result`` out: rows, trust, headlines, one sentence of advice."""

from heapwise.analysis.analyse import analyse
from heapwise.analysis.as_json import to_json
from heapwise.analysis.goals import goal_line

__all__ = ["analyse", "goal_line", "to_json"]
