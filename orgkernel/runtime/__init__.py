"""What must also run inside a host: standard library only, and nothing of orgkernel outside this package."""
