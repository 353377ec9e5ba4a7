"""Rules about bills (ORG631 to ORG639)."""
