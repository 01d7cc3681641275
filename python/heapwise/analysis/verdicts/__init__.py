"""Rows and the words that intervals allow for them."""
