"""Rules about tools, policies and permissions (ORG4xx)."""
