"""What may be claimed when there are many figures, or a limit."""
