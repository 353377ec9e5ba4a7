"""Engines of the store (`orgkernel.engines`): what they write, the plain transaction writes as well."""
