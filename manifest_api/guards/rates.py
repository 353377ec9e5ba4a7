"""How often one may ask: a bucket of tokens for each credential, and for each address that shows a wrong one."""

from __future__ import annotations

from collections import OrderedDict

_MOST = 4_096


class Rates:
    """Buckets that fill at a rate and hold `burst`. Times are seconds of a clock that only goes forward."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, now: float) -> float:
        """Take one token out of a bucket: 0, or for how many seconds there is none."""
        left = self._left(name, now)
        if left < 1:
            return (1 - left) / self._per_second
        self._keep(name, left - 1, now)
        return 0.0

    def wait(self, name: str, now: float) -> float:
        """For how many seconds a bucket is empty; 0 where it is not. Takes nothing."""
        left = self._left(name, now)
        return 0.0 if left >= 1 else (1 - left) / self._per_second

    def _left(self, name: str, now: float) -> float:
        left, then = self._buckets.get(name, (self._burst, now))
        return min(self._burst, left + max(0.0, now - then) * self._per_second)

    def _keep(self, name: str, left: float, now: float) -> None:
        self._buckets[name] = (left, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
