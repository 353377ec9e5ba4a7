"""Write organizations, check them, and see what a change does."""
