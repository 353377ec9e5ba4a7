"""Questions about an organization, each answered with its reasons."""
