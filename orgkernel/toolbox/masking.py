"""Mask credentials in the output of a tool, in any type of value and in common encodings.

A tool could repeat a credential in a string, in bytes, in a field of an object, or as the Base64 of a header. The
caller must not see it in any of these forms. A value that cannot be searched is replaced by the name of its type.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import enum
import json
import numbers
import re
from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta, tzinfo
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import msgspec

MASK: Final = "***"
_MIN_LENGTH: Final = 4
"""Minimum length of masked values. Shorter ones would be found in any string."""
_MIN_ENCODED_LENGTH: Final = 6
"""Minimum length of masked encoded forms. Shorter ones would be found in any string."""
_PLAIN: Final = (type(None), numbers.Number, enum.Enum, date, time, timedelta, tzinfo, UUID)
"""Types that contain no strings. Of these, only a number can repeat a credential made of digits."""


class TooDeep(ValueError):
    """A value is nested too deeply to be searched."""


def mask_values(value: Any, credentials: Mapping[str, str]) -> Any:
    """A copy of a value with its credentials masked, or the value itself if it has none. Raises `TooDeep`."""
    return Masker(credentials).mask(value)


class Masker:
    """Masks the same credentials in many values."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        secrets = [each for each in credentials.values() if len(each) >= _MIN_LENGTH]
        self._forms = _Forms(secrets) if secrets else None

    def mask(self, value: Any) -> Any:
        """A copy of a value with the credentials masked, or the value itself if there are none. Raises `TooDeep`."""
        if self._forms is None:
            return value
        try:
            return _Masking(self._forms).mask(value)
        except RecursionError:
            raise TooDeep("the output is nested too deeply") from None


def _list_encoded_forms(secret: str) -> Iterable[str]:
    """The encodings in which a secret could appear in a string."""
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    for characters in (b"+/", b"-_"):
        # Base64 works on groups of three bytes, so the same value looks different at each of three offsets.
        # Characters that also encode bits of the neighboring bytes are cut off at both ends.
        for offset in range(3):
            first = -(-4 * offset // 3)
            text = base64.b64encode(b"\0" * offset + raw, characters).decode()
            yield text[first : 4 * (offset + len(raw)) // 3]
    yield from (raw.hex(), raw.hex().upper(), raw.hex(" "), raw.hex(":"))
    for safe in ("", "/"):
        escaped = quote(raw, safe=safe)
        yield from (
            escaped,
            re.sub(r"%..", lambda match: match[0].lower(), escaped),
            escaped.replace("%20", "+"),
        )
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
    yield ascii(secret)[1:-1]


class _Forms:
    """All forms in which some secrets could appear."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms: set[str] = set()
        for secret in secrets:
            forms.add(secret)
            forms.update(form for form in _list_encoded_forms(secret) if len(form) >= _MIN_ENCODED_LENGTH)
        self.texts = sorted(forms, key=lambda form: (-len(form), form))
        self.numbers = {form for form in forms if form.isascii() and form.isdigit()}
        self.text_pattern = re.compile("|".join(map(re.escape, self.texts)))
        self.bytes_pattern = re.compile(
            b"|".join(re.escape(form.encode("utf-8", "surrogatepass")) for form in self.texts)
        )


class _Masking:
    """One pass over one value. It remembers the objects that it has copied."""

    def __init__(self, forms: _Forms) -> None:
        self._forms = forms
        self._done: dict[int, tuple[Any, Any]] = {}
        """Searched objects by identity with their copies, because a value may contain itself."""

    def mask(self, value: Any) -> Any:
        if isinstance(value, str):
            # Searching for each form is many times faster than the pattern of all forms, in a text that has none.
            has_secret = any(form in value for form in self._forms.texts)
            return self._forms.text_pattern.sub(MASK, value) if has_secret else value
        if isinstance(value, bytes | bytearray):
            masked = self._forms.bytes_pattern.sub(MASK.encode(), bytes(value))
            return value if masked == value else type(value)(masked)
        if isinstance(value, memoryview):
            return self.mask(value.tobytes())
        if isinstance(value, PurePath):
            return type(value)(self.mask(str(value)))
        if isinstance(value, _PLAIN):
            return MASK if str(value) in self._forms.numbers else value
        known = self._done.get(id(value))
        if known is not None:
            return known[1]
        return self._mask_object(value)

    def _remember(self, value: Any, masked: Any) -> Any:
        # The value is kept next to its copy: if it were freed, another object could get its `id`, and its copy.
        self._done[id(value)] = (value, masked)
        return masked

    def _mask_object(self, value: Any) -> Any:
        if isinstance(value, dict):
            # Remembered before its parts are masked, because a value can contain itself.
            table: dict[Any, Any] = self._remember(value, {})
            table.update((self.mask(key), self.mask(each)) for key, each in value.items())
            return table
        if isinstance(value, Mapping):
            return self._remember(value, {self.mask(key): self.mask(each) for key, each in value.items()})
        if isinstance(value, list):
            items: list[Any] = self._remember(value, [])
            items.extend(map(self.mask, value))
            return items
        if isinstance(value, tuple):
            parts = [self.mask(each) for each in value]
            return self._remember(value, value._make(parts) if hasattr(value, "_make") else tuple(parts))
        if isinstance(value, set | frozenset):
            return self._remember(value, type(value)(map(self.mask, value)))
        if isinstance(value, BaseException):
            return self._remember(value, self.mask(f"{type(value).__name__}: {value}"))
        return self._mask_fields(value)

    def _mask_fields(self, value: Any) -> Any:
        """A masked object: a dataclass, struct, pydantic model or plain object. For any other, the name of its type."""
        names = _list_field_names(value)
        if names is None:
            return self._remember(value, f"<{type(value).__name__}>")
        try:
            masked = self._remember(value, copy.copy(value))
            write = msgspec.structs.force_setattr if isinstance(value, msgspec.Struct) else object.__setattr__
            for name in names:
                if hasattr(value, name):
                    write(masked, name, self.mask(getattr(value, name)))
        except RecursionError:
            raise  # the caller must know: a part that is too deep has not been masked
        except Exception:  # a foreign object that cannot be copied or read
            return self._remember(value, f"<{type(value).__name__}>")
        return masked


def _list_field_names(value: Any) -> Iterable[str] | None:
    """The names of the fields of an object. None if they are not known."""
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    if isinstance(value, SimpleNamespace) or hasattr(type(value), "model_fields"):
        extra = getattr(value, "__pydantic_extra__", None)
        return list(vars(value)) if not extra else None
    return None
