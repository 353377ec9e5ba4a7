"""Documents to one organisation: what it declares, as records and edges, and questions about it in domain words."""
