"""Agents, their roles and skills, and the bills that they man."""
