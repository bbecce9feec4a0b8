"""Simulations that say how often intervals hold what they promise."""
