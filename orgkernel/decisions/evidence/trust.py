"""The trust in an agent: a Beta distribution over the outcomes of its work, with the counts behind it.

The prior has the mean that the roster states or that was recorded, and weighs as much as `trust_weight` outcomes. Each
recorded success adds one to alpha, each failure one to beta. If no mean is stated, the trust is unknown before the first outcome; after it, the prior has the mean 0.5.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, sqrt

import msgspec

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.graph.questions import OrgView

UNSTATED_MEAN = 0.5
DEFAULT_WEIGHT = 4.0
CREDIBLE = 0.95
_FIRST_STEPS = 30
_MAX_STEPS = 100
_PRECISION = 1e-6


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """The trust in an agent."""

    mean: float | None
    """The mean, 0 to 1; null if unknown."""
    alpha: float
    beta: float
    prior_mean: float | None
    """The stated mean, before any outcome."""
    prior_weight: float
    successes: int
    failures: int

    def __str__(self) -> str:
        """The distribution in a few words, never as a bare number.

        >>> str(compute_trust(0.5, 4, 6, 0)), str(compute_trust(None, 4, 0, 0))
        ('0.80 (alpha 8, beta 2; 6 of 6 succeeded)', 'unknown (no outcomes)')
        """
        if self.mean is None:
            return "unknown (no outcomes)"
        counts = f"{self.successes} of {self.successes + self.failures} succeeded"
        return f"{self.mean:.2f} (alpha {self.alpha:g}, beta {self.beta:g}; {counts})"


def compute_trust(prior_mean: float | None, weight: float, successes: int, failures: int) -> Trust:
    """The distribution for a prior and counts."""
    mean = UNSTATED_MEAN if prior_mean is None else prior_mean
    # Without a stated mean the prior still has its weight, so the first failure does not make the trust zero.
    alpha, beta = weight * mean + successes, weight * (1 - mean) + failures
    is_known = prior_mean is not None or successes + failures > 0
    return Trust(
        mean=alpha / (alpha + beta) if is_known else None,
        alpha=round(alpha, 9),
        beta=round(beta, 9),
        prior_mean=prior_mean,
        prior_weight=weight,
        successes=successes,
        failures=failures,
    )


def get_trust(view: OrgView, state: StateView, agent_id: str) -> Trust:
    """The current trust in an agent."""
    declared, stored = view.records.agents.get(agent_id), state.agents.get(agent_id)
    mean = None if declared is None else declared.record.trust
    if stored is not None and stored.trust is not None:
        mean = stored.trust
    weight = DEFAULT_WEIGHT if declared is None else declared.record.trust_weight
    return compute_trust(
        mean, weight, 0 if stored is None else stored.successes, 0 if stored is None else stored.failures
    )


def compute_credible_interval(trust: Trust) -> tuple[float, float]:
    """The central 95 % interval of the distribution.

    >>> [round(each, 3) for each in compute_credible_interval(compute_trust(0.5, 2, 0, 0))]
    [0.025, 0.975]
    """
    tail = (1 - CREDIBLE) / 2
    return _compute_quantile(trust.alpha, trust.beta, tail), _compute_quantile(
        trust.alpha, trust.beta, 1 - tail
    )


@lru_cache(maxsize=1_024)
def _compute_quantile(alpha: float, beta: float, share: float) -> float:
    """The value below which a share of a Beta distribution lies, found by tangents, and by bisection if a tangent fails."""
    if alpha <= 0 or beta <= 0:  # all of the distribution is at one end
        return 0.0 if alpha <= 0 else 1.0
    low, high, value = 0.0, 1.0, alpha / (alpha + beta)
    for _ in range(_MAX_STEPS):
        below, density = _compute_share_below(alpha, beta, value)
        low, high = (value, high) if below < share else (low, value)
        better = value - (below - share) / density if density > 0 else low
        # Far from the mean the density is almost zero, and the tangent leaves the interval that contains the value.
        if not low < better < high:
            better = (low + high) / 2
        if abs(better - value) < _PRECISION:
            return better
        value = better
    return value


def _compute_share_below(alpha: float, beta: float, value: float) -> tuple[float, float]:
    """The share of a Beta distribution below a value, which is the regularized incomplete beta function; and its density."""
    front = exp(
        lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta) + alpha * log(value) + beta * log(1 - value)
    )
    density = front / (value * (1 - value))
    # The fraction converges fast only on one side of the mean.
    if value < (alpha + 1) / (alpha + beta + 2):
        return front * _compute_continued_fraction(alpha, beta, value) / alpha, density
    return 1 - front * _compute_continued_fraction(beta, alpha, 1 - value) / beta, density


def _compute_continued_fraction(alpha: float, beta: float, value: float) -> float:
    """The continued fraction of the incomplete beta function, from its last term to its first.

    It converges within some multiple of the square root of the larger parameter.
    """
    rest = 0.0
    for step in range(_FIRST_STEPS + int(3 * sqrt(max(alpha, beta))), 0, -1):
        half = step // 2
        if step % 2 == 0:
            term = half * (beta - half) / ((alpha + step - 1) * (alpha + step))
        else:
            term = -(alpha + half) * (alpha + beta + half) / ((alpha + step - 1) * (alpha + step))
        rest = term * value / (1 + rest)
    return 1 / (1 + rest)
