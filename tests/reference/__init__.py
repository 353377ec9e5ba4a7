"""A naive reference, and generated organisations to compare with it."""
