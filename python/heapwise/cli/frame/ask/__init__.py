"""From a command line, settings and options to what the user asked for."""
