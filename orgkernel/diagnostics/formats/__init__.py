"""Findings in the formats that CI systems read; each renderer is a function of findings to text."""
