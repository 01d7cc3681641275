"""Rows as sentences: headlines, findings and advice."""
