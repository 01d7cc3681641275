"""Figures of the fleet: how it grows with the number of machines, and what its engine changes."""
