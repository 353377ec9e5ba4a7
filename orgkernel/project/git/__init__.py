"""What git knows about a project, read without running anything that the repository configures."""
