"""Evidence about agents from the store and the rosters: test results, skills, trust, and finished work."""
