"""One process: how it is started, watched, timed and ended, and what became of it."""
