"""Rules about the command catalogue."""
