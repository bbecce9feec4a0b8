"""Tests of what is shown, whatever the medium."""
