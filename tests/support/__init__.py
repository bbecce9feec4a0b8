"""Tests of the room support."""
