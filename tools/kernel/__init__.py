"""Runs a command on the kernel of a Debian package, in a virtual machine."""
