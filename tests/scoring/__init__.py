"""Tests of the room scoring."""
