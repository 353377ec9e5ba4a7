"""Open → check → hold snapshots → answer: the only place where the parts are wired together."""
