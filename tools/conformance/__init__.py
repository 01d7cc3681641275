"""Builds the programs of tests/conformance, runs them, and compares what they saw of malloc."""
