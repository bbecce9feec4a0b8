"""The tests; a package, so that `python -m tests.benchmark` works and files can share helpers."""
