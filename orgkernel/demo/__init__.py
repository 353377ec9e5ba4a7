"""The LinkedIn scenario: an agent with a new job, from configuration alone, shown step by step."""
