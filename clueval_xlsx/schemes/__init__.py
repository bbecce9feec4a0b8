"""Schemes: one module for each way to count; all of them turn a pair into tallies."""
