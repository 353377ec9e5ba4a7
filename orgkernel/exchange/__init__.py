"""Organizations in the formats of others, each made from documents, with a report of what the target cannot say."""
