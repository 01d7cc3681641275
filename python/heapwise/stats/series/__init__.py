"""One series of figures in the order of time: dependence, drift, levels, kinds."""
