"""Write organizations, check them, and show the effect of a change."""
