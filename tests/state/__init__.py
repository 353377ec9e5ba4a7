"""What every store does, whatever its engine; and what is special about each."""
