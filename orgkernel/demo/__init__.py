"""The LinkedIn scenario: an agent with a new job, from configuration alone, told step by step."""
