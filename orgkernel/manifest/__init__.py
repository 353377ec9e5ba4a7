"""The crew manifest: everything the registry knows about a role or an organization, each item with its lines."""
