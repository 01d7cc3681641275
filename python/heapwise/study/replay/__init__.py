"""Recorded traces that are played again."""
