"""Findings about documents, each with a code, a place, a message and help."""

from orgkernel.diagnostics.diagnostic import Diagnostic, Place, Related, Severity

__all__ = ["Diagnostic", "Place", "Related", "Severity"]
