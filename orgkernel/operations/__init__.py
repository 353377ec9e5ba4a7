"""Operations: one function for each write. It checks the right of the actor, writes, audits, and returns the result."""
