"""HTML pages: self-contained, one page stack."""
