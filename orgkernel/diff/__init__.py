"""What each role gained and lost between two versions of an organization, with the lines that caused it."""
