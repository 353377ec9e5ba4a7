"""Dispatch decisions: the role that takes a task, by domain, intent or text, and whether one role may dispatch another."""
