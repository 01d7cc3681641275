"""What is told about the machines of a fleet run."""
