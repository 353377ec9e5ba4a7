"""An organization for Agent-Zero: compiled, activated in a host, and its roles as native agent profiles."""
