"""Tests of the room cases."""
