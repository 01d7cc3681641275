"""Real programs that others wrote, each run plainly and in every way in which Heapwise takes part.

``tests/world/programs`` declares the programs, and ``tests/world`` runs them. ``python -m world``
makes their environments and writes the table of results.
"""
