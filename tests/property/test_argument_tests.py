"""Laws of tests of arguments: what is wider for the rules is wider for decisions."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest

from orgkernel.decisions.access.arguments import StatedInput
from orgkernel.documents.records import ArgumentTest
from orgkernel.rules.policy_matches import covers_tests

TEXTS = ("a", "A", "b", "ab", "a b")
HOSTS = ("a.example", "*.a.example", "b.example")
PATHS = ("a", "a/**", "b/*", "{a,b}")
PATTERNS = ("a", "a*", "*b", "*", "A*")
NUMBERS = (0.0, 1.0, 5.0)
VALUES = (
    *TEXTS, 0, 0.5, 3, 7, True, None, "a/b", "b/c", "c", ["a", "b"], [3, 7], [],
    "https://x.a.example/", "https://a.example/", "https://b.example/", "https://a.example@b/",
)  # fmt: skip


def list_choices(*values: str) -> tuple[tuple[str, ...], ...]:
    """No value, each value and each two of them."""
    return tuple(chosen for size in range(3) for chosen in combinations(values, size))


CHOICES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("one_of", "none_of"), list_choices(*TEXTS)),
    **dict.fromkeys(("matches", "not_matches"), list_choices(*PATTERNS)),
    **dict.fromkeys(("host_in", "host_not_in"), list_choices(*HOSTS)),
    **dict.fromkeys(("under", "not_under"), list_choices(*PATHS)),
    **dict.fromkeys(("more_than", "less_than"), (None, *NUMBERS)),
    "longer_than": (None, 0, 1, 2),
}
INPUTS = [
    StatedInput(values, frozenset(optional), "/work")
    for values in ({}, *({"x": value} for value in VALUES))
    for optional in ((), ("x",))
]


def test_every_check_has_choices() -> None:
    """A new check is compared too."""
    assert CHOICES.keys() == set(ArgumentTest.__struct_fields__)


@pytest.mark.parametrize("field", CHOICES)
def test_wider_tests_apply_to_every_call_that_narrower_ones_apply_to(field: str) -> None:
    """What passes the narrow test passes the wide one, and what could pass it could pass the wide one."""
    tests = [ArgumentTest(**{field: choice}) for choice in CHOICES[field]]
    results = [[given.match((("x", test),)) for given in INPUTS] for test in tests]
    covering = 0
    for (wide, wide_results), (narrow, narrow_results) in product(zip(tests, results, strict=True), repeat=2):
        if not covers_tests({"x": wide}, {"x": narrow}):
            continue
        covering += wide != narrow
        for given, here, there in zip(INPUTS, wide_results, narrow_results, strict=True):
            assert here is not False or there is False, (wide, narrow, given)
            assert here is True or there is not True, (wide, narrow, given)
    assert covering


@pytest.mark.parametrize(("field", "other"), [*combinations(CHOICES, 2)])
def test_another_test_never_makes_a_policy_apply_to_more_calls(field: str, other: str) -> None:
    """A test with a further check, or with the same check of another argument, applies to no further call."""
    for first, second in product(CHOICES[field][:4], CHOICES[other][:4]):
        alone = ArgumentTest(**{field: first})
        both = ArgumentTest(**{field: first, other: second})
        assert covers_tests({"x": alone}, {"x": both})
        assert covers_tests({"x": alone}, {"x": alone, "y": both})
        for given in INPUTS:
            if given.match((("x", alone),)) is False:
                assert given.match((("x", both),)) is False
                assert given.match((("x", alone), ("y", both))) is False
