"""Finds public declarations of the C++ headers that do not state their contract."""
