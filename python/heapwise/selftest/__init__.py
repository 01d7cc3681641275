"""Known faults and known effects, planted in real processes on the user's machine.

Every fault has to make its check fire, every effect has to be found with the right sign and size,
and where nothing was planted no check may fire.
"""

from heapwise.selftest.conduct import conduct_self_test
from heapwise.selftest.plants import PLANTS, Plant

__all__ = ["PLANTS", "Plant", "conduct_self_test"]
