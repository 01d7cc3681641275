"""The rounds of a run: their order, when they are enough, and what is stored of them."""
