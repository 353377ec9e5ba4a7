"""Rules: one file per rule, named after its code. The docstring of the file is the page of the rule."""
