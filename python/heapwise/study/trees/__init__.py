"""The binary trees in every language."""
