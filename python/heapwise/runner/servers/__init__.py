"""Measures a server under each allocator: started, awaited, put under load, stopped."""
