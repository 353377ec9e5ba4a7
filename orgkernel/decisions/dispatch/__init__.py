"""Dispatch decisions: the role that takes a task, by domain, intent or text."""
