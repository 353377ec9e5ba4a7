"""A naive reference, and generated organizations to compare with it."""
