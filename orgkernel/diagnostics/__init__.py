"""What we say about documents: findings with a code, a place and a way out."""

from orgkernel.diagnostics.diagnostic import Diagnostic, Place, Related, Severity

__all__ = ["Diagnostic", "Place", "Related", "Severity"]
