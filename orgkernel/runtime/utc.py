"""Converts times to text and back. Pure arithmetic: code below the kernel reads neither the system's clock nor its
calendar.
"""

from __future__ import annotations

from .lazy_patterns import lazy_pattern

_DAY = 86_400
_FROM_YEAR_0 = 719_468
"""Days from 0000-03-01 to 1970-01-01; in years that begin in March, the leap day is the last day."""
_ERA = 146_097
"""Days in 400 years."""
_YEAR_0 = -62_167_219_200
"""0000-01-01 in seconds from 1970-01-01."""


def as_utc(seconds: float | None) -> str | None:
    """Seconds since 1970-01-01 UTC as RFC 3339 text; whole seconds, rounded down.

    >>> as_utc(0.0), as_utc(951_782_399.9), as_utc(None)
    ('1970-01-01T00:00:00Z', '2000-02-28T23:59:59Z', None)
    """
    if seconds is None or not -1e11 < seconds < 1e11:
        return None
    days, second = divmod(int(seconds // 1), _DAY)
    era, day_of_era = divmod(days + _FROM_YEAR_0, _ERA)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    return f"{year:04}-{month:02}-{day:02}T{second // 3600:02}:{second % 3600 // 60:02}:{second % 60:02}Z"


def as_exact_utc(seconds: float) -> str | None:
    """Like `as_utc`, with microseconds, for times close together. None before the year 0.

    >>> as_exact_utc(951_782_399.25)
    '2000-02-28T23:59:59.250000Z'
    """
    if not _YEAR_0 <= seconds < 1e11:
        return None
    whole, fraction = divmod(round(seconds * 1_000_000), 1_000_000)
    return f"{(as_utc(whole) or '')[:-1]}.{fraction:06}Z"


_MOMENT = lazy_pattern(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)


def as_seconds(text: str) -> float | None:
    """ISO 8601 text as seconds since 1970-01-01 UTC; UTC if it has no offset, None if it is not a time.

    >>> as_seconds("2000-02-28T23:59:59.5Z"), as_seconds("1970-01-01T01:00:00+01:00"), as_seconds("2001-02-29T00:00:00Z")
    (951782399.5, 0.0, None)
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute = map(int, match.groups()[:5])
    second = int(match[6] or 0)
    offset = _parse_offset(match[8])
    if hour > 23 or minute > 59 or second > 60 or offset is None:
        return None
    shifted_year = year - (month <= 2)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    era, year_of_era = divmod(shifted_year, 400)
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    midnight = (era * _ERA + day_of_era - _FROM_YEAR_0) * _DAY
    if not 1 <= month <= 12 or as_utc(midnight) != f"{year:04}-{month:02}-{day:02}T00:00:00Z":
        return None
    return midnight + hour * 3600 + minute * 60 + second + float(f"0.{match[7] or 0}") - offset


def _parse_offset(text: str | None) -> int | None:
    """Seconds by which local time is ahead of UTC. None for more than a day."""
    if text is None or text in "Zz":
        return 0
    hours, minutes = int(text[1:3]), int(text[-2:])
    seconds = hours * 3600 + minutes * 60
    return None if hours > 23 or minutes > 59 else -seconds if text[0] == "-" else seconds
