"""The status of a running role: PACE tiers, SALUTE reports, and signals of the layers of an agent."""
