"""Rules about PACE triggers and reports (ORG5xx)."""
