"""UIMA CAS as XMI, JSON and WebAnno TSV: what is in a file, and the file with some of its annotations changed."""
