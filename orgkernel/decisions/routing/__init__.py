"""Dispatch by a sentence: what is known about roles in words, and how well it fits (docs/dispatch.md)."""
