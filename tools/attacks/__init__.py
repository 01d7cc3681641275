"""The page of what allocators make of attacks."""
