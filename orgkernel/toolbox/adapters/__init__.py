"""The only code that calls a tool. Only the toolbox imports it (an import contract)."""
