"""A2A: agent cards of roles and of the organization, version 1.0 of the protocol, and their signatures."""
