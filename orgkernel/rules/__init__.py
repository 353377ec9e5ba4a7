"""Rules: one file each, named after its code. The docstring of the file is the page of the rule."""
