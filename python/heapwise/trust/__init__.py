"""How a benchmark lies, and the check that stops each lie: one file per check, V1 ... V25.

A check reads what was stored, never the machine. Facts that are absent make it ``unavailable``,
never ``pass``.
"""

from heapwise.trust.judge import check_run

__all__ = ["check_run"]
