"""Experiments that are built with Heapwise, or declared."""
