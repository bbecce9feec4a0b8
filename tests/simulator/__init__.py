"""A simulator of people who edit review workbooks, and of what the way back must make of it."""
