"""Checks of the machine, its clock and its counters."""
