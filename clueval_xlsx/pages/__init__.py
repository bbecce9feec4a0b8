"""What is shown of a result: a page of chapters of sections, made once for every medium."""
