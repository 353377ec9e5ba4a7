"""The compiled answers: what the hot path and rules at scale read, without networkx."""
