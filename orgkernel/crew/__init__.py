"""The crew manifest: everything the registry knows about a role or an organisation, each item with its lines."""
