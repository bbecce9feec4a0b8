"""Workbooks in other programs: what comes back, and what their formulas come to there."""
