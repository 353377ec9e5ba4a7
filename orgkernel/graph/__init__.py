"""Documents to one organization: what it declares, as records and edges, and questions about it in domain words."""
