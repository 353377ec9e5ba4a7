"""Rules about agents of other hosts, which are read in place (ORG723, ORG724, and ORG750 to ORG789)."""
