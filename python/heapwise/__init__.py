"""Heapwise: which allocator, which layout, which primitive, and what does it buy."""

__version__ = "0.2.0"
