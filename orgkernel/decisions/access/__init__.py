"""Access: may this subject do this to that, why or why not, and who can."""
