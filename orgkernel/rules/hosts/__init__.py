"""Rules about agents of other hosts, read where they are (ORG750 to ORG789)."""
