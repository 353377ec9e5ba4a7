"""The crew manifest: the complete profile of a role, an agent or an organization, each item with its lines."""
