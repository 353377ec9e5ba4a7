"""Rules about the chain of command (ORG2xx)."""
