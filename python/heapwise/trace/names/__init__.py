"""From an address to a name: modules, symbols, perf maps, sites and wrappers."""
