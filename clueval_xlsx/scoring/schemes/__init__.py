"""Schemes: one module for each way to count; all of them turn the same matched pair into tallies."""
