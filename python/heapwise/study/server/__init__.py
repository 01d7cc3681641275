"""Servers under load."""
