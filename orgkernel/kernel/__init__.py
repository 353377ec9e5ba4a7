"""The kernel: open, check, hold snapshots, answer. All parts are wired together here."""
