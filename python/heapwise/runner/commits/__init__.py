"""Commits of the user's repository: checked out, built, compared and searched."""
