"""What is told about a recording: a trace, a profile, two traces, and a profile of another tool."""
