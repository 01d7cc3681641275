"""The command line: one file per verb in this folder, found by folder.

A verb's file has a function ``register(app)`` that adds it. It imports typer, the model and
``cli.frame`` at its top and everything heavy inside its functions, so that ``--help`` stays fast.
"""

from heapwise.cli.frame.app import main

__all__ = ["main"]
