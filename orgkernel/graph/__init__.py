"""Link documents to organizations: their declarations as records and edges, and questions about them in domain words."""
