"""Handling intents: standing orders, cognitive skills, procedures, tools, and the choice among them."""
