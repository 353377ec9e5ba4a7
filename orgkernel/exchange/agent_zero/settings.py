"""How a host enforces an active organization: `x_orgkernel` in `active.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

CHOICES: Mapping[str, tuple[str, ...]] = {
    "enforcement": ("observe", "trim", "enforce"),
    "on_error": ("pass", "refuse"),
    "unlisted_tools": ("warn", "refuse"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's settings. The defaults are those of the host."""

    enforcement: str = "enforce"
    on_error: str = "pass"
    unlisted_tools: str = "warn"

    def changed(self, chosen: Mapping[str, Any]) -> Settings:
        """These settings with the valid choices applied. Invalid ones change nothing."""
        return replace(self, **{name: chosen[name] for name in CHOICES if chosen.get(name) in CHOICES[name]})

    @staticmethod
    def slips(given: object) -> tuple[str, ...]:
        """The invalid settings, for which a default is used. `bundle` is not a setting."""
        if not isinstance(given, Mapping):
            return () if given is None else ("`x_orgkernel` is not a mapping",)
        return tuple(
            f"`{name}` is `{str(value)[:40]}`, not one of {', '.join(CHOICES[name])}"
            if name in CHOICES
            else f"unknown setting `{str(name)[:40]}`"
            for name, value in given.items()
            if name != "bundle" and (name not in CHOICES or value not in CHOICES[name])
        )

    def as_json(self) -> dict[str, str]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
