"""What is shown, decided once for all media."""
