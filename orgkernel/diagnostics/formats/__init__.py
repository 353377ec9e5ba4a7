"""Findings in the formats that CI systems read. Each renderer turns findings into text."""
