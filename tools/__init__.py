"""What writes the generated files of this repository: `make regenerate`."""
