"""Measures the tool against others on the same data in one run: `python -m tests.benchmark [--quick]`.

Each row is measured in a process of its own: its best processor time of several, and the peak memory of the process.
The data are ler-dev (214,443 tokens), ten copies of it and 94 (20 million), with IDs of their own. `limits` says what
must hold; the table at the end says what does.
"""
