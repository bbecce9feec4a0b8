"""The cases that people judge: kinds, the table, contexts, samples."""
