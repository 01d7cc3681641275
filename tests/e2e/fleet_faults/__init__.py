"""Faults at every part of a fleet, counted, and whether a sample was lost or doubled."""
