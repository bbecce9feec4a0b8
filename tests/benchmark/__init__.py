"""Tests of the room benchmark."""
