"""Rules about agents of other hosts, which are read in place (ORG750 to ORG789)."""
