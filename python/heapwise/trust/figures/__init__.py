"""Checks of the figures: noise, order, drift and enough of them."""
