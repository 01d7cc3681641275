"""What this computer is, and is it quiet: from /proc and /sys, before and after a run."""

from heapwise.machine.here import machine_fingerprint, read_machine

__all__ = ["machine_fingerprint", "read_machine"]
