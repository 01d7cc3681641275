"""A comparison of programs, or of one program under several allocators."""
