"""One package for each kind of study.

In each, ``ask`` makes a plan of what the user wants, ``run`` runs its steps, and ``tell`` says what
came of it. ``executors`` and ``told`` choose between the kinds for a run that is stored; no other
module asks for the kind of a run.
"""
