"""The fuzzer: damaged and hostile input for everything that reads a file. `python -m tests.fuzz` is the long run."""
