"""Attacks on malloc, and what resisting them costs."""
