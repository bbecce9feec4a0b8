"""The outside world of files: atomic outputs, names, locks, encryption, hostile files, spreadsheets as tables."""
