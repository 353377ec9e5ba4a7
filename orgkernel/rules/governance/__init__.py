"""Rules about dispatch layers, sacred scopes and quality gates (ORG640 to ORG691)."""
