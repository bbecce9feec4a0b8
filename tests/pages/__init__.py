"""Tests of pages: what is shown of a result, and how each medium lays it out."""
