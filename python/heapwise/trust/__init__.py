"""How a benchmark lies, and the check that stops each lie: one file per check, V1 to V31.

A check reads what was stored (``Evidence``), never the machine. Facts that are absent make it
``unavailable``, never ``pass``. ``applies`` chooses what a check looks at in a run of each kind.
"""

from heapwise.trust.judge import check_run

__all__ = ["check_run"]
