"""Tests of the room detectors."""
