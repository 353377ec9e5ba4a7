"""Which role takes a task: by domain, by intent, by text."""
