"""What `make test` runs, and how it is counted."""
