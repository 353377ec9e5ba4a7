"""Members of the crew: who they are now, which tools they can use, and who stands in for them."""
