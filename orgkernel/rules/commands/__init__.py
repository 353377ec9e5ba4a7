"""Rules about the command catalog."""
