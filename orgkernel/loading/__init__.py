"""Reads YAML and JSON files into validated records with their source positions. `files` is the only module that reads
the disk.
"""
