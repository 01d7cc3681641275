"""``python -m heapwise`` is ``heapwise``."""

from heapwise.cli import main

main()
