"""What several tests share: trees on disk, cases in YAML."""
