"""File formats: one registry, one module a format."""
