"""How a store came to its tables, step by step; Alembic runs `versions/` in order."""
