"""What the statistics compute with: ranks, quantiles, intervals of one sample."""
