"""Optimizations. Each can be switched off, and the answers are the same without it."""
