// Brings precompiled headers into being.
