"""A stored run in, a ``Result`` out: rows, trust, headlines, one sentence of advice."""

from heapwise.analysis.analyse import analyse
from heapwise.analysis.as_json import to_json

__all__ = ["analyse", "to_json"]
