"""Rules about domains, plans and dispatch (ORG3xx)."""
