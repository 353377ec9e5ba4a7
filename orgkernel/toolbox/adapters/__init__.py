"""The only code that calls a tool; only the toolbox imports it (an import contract)."""
