"""Names of parameters and variables in C++."""
