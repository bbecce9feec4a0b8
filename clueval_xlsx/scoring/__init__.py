"""Matching, schemes, rates, intervals, comparison."""
