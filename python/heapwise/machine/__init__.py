"""What this computer is, and is it quiet: from /proc and /sys, before and after a run."""

from heapwise.machine.here import read_machine
from heapwise.machine.processor import cpu_list
from heapwise.machine.quiet import read_pressure

__all__ = ["cpu_list", "read_machine", "read_pressure"]
