"""Renders findings in formats of CI systems. Each renderer is a function from findings to text."""
