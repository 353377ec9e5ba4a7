"""Names that stand for something else in questions."""

from __future__ import annotations

ACTIVE = "active"
"""The organization that is meant where none is named."""
