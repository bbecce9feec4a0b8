"""Runs the benchmark."""

from tests.benchmark.program import main

if __name__ == "__main__":
    main()
