"""Tests of the room review."""
