"""The states of a task between two messages, for readers that do not judge messages.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from typing import Final, Literal

TaskState = Literal["open", "paused", "ended"]
OPEN: Final = "open"
PAUSED: Final = "paused"
ENDED: Final = "ended"
MAX_TEXTS: Final = 6
"""Texts that a task remembers: its first message and the latest ones."""
