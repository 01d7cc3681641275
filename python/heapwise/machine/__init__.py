"""What this computer is, and is it quiet: from /proc and /sys, before and after a run."""

from heapwise.machine.here import machine_fingerprint, read_machine
from heapwise.machine.processor import cpu_list

__all__ = ["cpu_list", "machine_fingerprint", "read_machine"]
