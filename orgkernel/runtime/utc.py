"""Moments as text, and text as moments. Pure arithmetic: nobody here asks a clock or a calendar of the system.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from typing import Final

_DAY = 86_400
_FROM_YEAR_0 = 719_468
"""Days from 0000-03-01 to 1970-01-01; years that begin in March have their leap day at the end."""
_ERA = 146_097
"""Days of 400 years."""
_YEAR_0 = -62_167_219_200
_MICROSECONDS = 1_000_000

_RFC_3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?",
    re.ASCII,
)


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
    """The same with microseconds, for moments that follow each other closely.

    >>> as_exact_utc(951_782_399.25)
    '2000-02-28T23:59:59.250000Z'
    """
    if not _YEAR_0 <= seconds < 1e11:
        return None
    whole, fraction = divmod(round(seconds * _MICROSECONDS), _MICROSECONDS)
    return f"{(as_utc(whole) or '')[:-1]}.{fraction:06}Z"


def read_utc(text: str) -> float | None:
    """Seconds since 1970-01-01 UTC that an ISO 8601 text means; without an offset it is UTC. None for any other text.

    >>> read_utc("2000-02-28T23:59:59.25Z"), read_utc("2000-02-29T01:59:59.25+02:00"), read_utc("yesterday")
    (951782399.25, 951782399.25, None)
    """
    found = _RFC_3339.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute = (int(found[number]) for number in range(1, 6))
    second, fraction = int(found[6] or 0), float(f"0.{found[7] or 0}")
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    length = 29 if month == 2 and leap else 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    if not (1 <= month <= 12 and 1 <= day <= length and hour < 24 and minute < 60 and second <= 60):
        return None
    shifted_year = year - (month <= 2)
    era, year_of_era = divmod(shifted_year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = era * _ERA + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - _FROM_YEAR_0
    offset = 0
    if found[9]:
        offset = (int(found[10]) * 3_600 + int(found[11]) * 60) * (1 if found[9] == "+" else -1)
    return days * _DAY + hour * 3_600 + minute * 60 + second - offset + fraction
