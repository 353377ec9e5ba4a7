"""The shapes of documents: one frozen struct per model of `orgkernel.model`, with its constraints, generated from it."""
