"""Reserved names in questions."""

from __future__ import annotations

ACTIVE = "active"
"""The name of the active organization, used if no organization is named."""
