"""Rules about agents, qualifications and skills (ORG601 to ORG629)."""
