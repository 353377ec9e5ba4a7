"""Rules about tools, policies and rights (ORG4xx)."""
