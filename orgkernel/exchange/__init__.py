"""Export organizations to other formats, each with a report of what the target format cannot express."""
