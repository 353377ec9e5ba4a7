"""Batches of subtasks: which may be worked on together, how few batches there can be, and what may start now."""
