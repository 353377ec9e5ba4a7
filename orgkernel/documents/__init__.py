"""Documents: their pydantic models, and the plain structs generated from them."""
