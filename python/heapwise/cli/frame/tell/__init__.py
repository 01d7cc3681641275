"""What the terminal and the files say of it."""
