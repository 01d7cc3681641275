"""Random campaigns with a known truth, judged by the laboratory's own analysis.

Each promise of docs/methods.md that a simulation can check is a ``Scenario`` (``promises``).
"""
