"""Batches of subtasks: which subtasks can be worked on together, the fewest batches, and the subtasks that may start
now.
"""
