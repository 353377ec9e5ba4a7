"""What the store and the rosters say about agents: results of tests, skills, trust, work done."""
