"""Operations: one function per write. It decides whether the actor may, writes, audits, and returns what happened."""
