"""The state of a running role: PACE tiers, SALUTE reports, signals of the layers of an agent."""
