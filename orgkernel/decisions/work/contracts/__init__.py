"""Contracts: is a brief, a result or a blocker what it must be? Each rule of the sources is one function with one code."""
