"""Tests of the room outputs."""
