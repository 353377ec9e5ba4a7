"""Rules about hand-off layers, sacred scopes and quality gates (ORG640 to ORG691)."""
