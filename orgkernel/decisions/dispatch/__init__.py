"""Which role takes a task: by domain, by intent, by text. And which role may dispatch which."""
