"""Checks of what was measured: the same work, the right library, the right build."""
