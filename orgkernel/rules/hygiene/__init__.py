"""Rules about unused, undescribed and secret-shaped content (ORG701 to ORG707)."""
