"""What somebody does with an intent: standing orders, cognitive skills, procedures, tools, and which of them it is."""
