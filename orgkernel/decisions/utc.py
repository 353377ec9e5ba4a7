"""Moments as text. Pure arithmetic: below the kernel nobody asks a clock or a calendar of the system."""

from __future__ import annotations

_DAY = 86_400
_FROM_YEAR_0 = 719_468
"""Days from 0000-03-01 to 1970-01-01; years that begin in March have their leap day at the end."""
_ERA = 146_097
"""Days of 400 years."""


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
