"""YAML and JSON files to validated records with places. `files` is the only module that reads the disk."""
