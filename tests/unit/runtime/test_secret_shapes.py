"""What is masked of a text, and what it costs to look through a hostile one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.runtime import secret_shapes
from orgkernel.runtime.secret_shapes import (
    UNSEARCHED,
    find_secrets,
    mask_secrets,
    may_hold_secrets,
    name_secrets,
)
from tests.support.sampling import sample_every

BODY = [
    "MIIEowIBAAKCAQEA0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh",
    "q7Rz2mWx9LpT4kVn8sYbq7Rz2mWx9LpT4kVn8sYb",
]


@pytest.mark.parametrize(
    "lines",
    ["\n".join, "\\n".join, "\n> ".join, '\\n"\n  "'.join, "\\r\\n".join],
    ids=["as it is", "in JSON", "in an answer", "in pieces", "from Windows"],
)
def test_a_quoted_private_key_is_masked_to_its_end(lines: object) -> None:
    """However it is quoted, no line of it is left."""
    assert callable(lines)
    text = lines(["-----BEGIN RSA PRIVATE KEY-----", *BODY, "-----END RSA PRIVATE KEY-----", "and no more"])
    masked = mask_secrets(text)
    assert not any(line in masked for line in BODY)
    assert masked.endswith("and no more")
    assert len(masked) == len(text)


def test_every_secret_of_a_text_is_masked() -> None:
    """A token does not hide the password beside it."""
    text = (
        "ghp_0123456789abcdefghijABCDEFGHIJ012345 and password: q7Rz2mWx9LpT4kVn, Basic dXNlcjpodW50ZXIyLXg="
    )
    assert mask_secrets(text) == f"ghp_{'*' * 36} and password: {'*' * 17} Basic {'*' * 20}"


def test_a_header_of_other_words_is_no_secret() -> None:
    """`Basic` is also a word."""
    assert mask_secrets("Basic knowledgeable agents, Bearer instruments") == (
        "Basic knowledgeable agents, Bearer instruments"
    )


def test_a_public_key_is_no_secret() -> None:
    """A message can name a `did:key`; a longer value is masked."""
    did = "did:key:z6Mknk2Shj6ZbQxiZBgzsbST7dhzkHvph6uCNFvQtFJsvPQz"
    for text in (did, f"`{did}`, {did}.", f'{{"did": "{did}", "key": "{did}"}}', f"the key {did}"):
        assert mask_secrets(text) == text
        assert list(find_secrets(text)) == []
    assert mask_secrets(f"{did}x") == f"did:key:{'*' * 49}"


@pytest.mark.parametrize(
    "text",
    sample_every(
        [
            "-----BEGIN PRIVATE KEY-----" * 40_000,
            ("-----BEGIN PRIVATE KEY-----" + "A" * 40) * 15_000,
            "Bearer " * 150_000,
            "Basic " + "A" * 1_000_000,
            "a" * 1_000_000 + "://",
            "a://" * 250_000,
            "a://:" * 200_000,
            "key=" * 250_000,
            "token: " * 150_000,
            "primary " * 125_000 + "key: ",
            "eyJ" * 300_000,
        ],
        3,
    ),
    ids=lambda text: text[:12],
)
def test_a_hostile_text_of_a_megabyte_is_looked_through(text: str) -> None:
    """The bound is wide, because machines differ: what grows with the square takes minutes."""
    started = time.process_time()
    may_hold_secrets(text)
    list(find_secrets(text))
    assert time.process_time() - started < 20


def test_a_text_beyond_the_budget_is_treated_like_a_secret() -> None:
    """It is found, and masked with its length and by its kind."""
    text = "token: a1b2c3d4e5f6g7h8 " * 40_000
    started = time.process_time()
    assert [each.what for each in find_secrets(text)][-1] == UNSEARCHED
    masked = mask_secrets(text)
    assert len(masked) == len(text)
    assert "a1b2c3d4e5f6g7h8" not in masked
    assert name_secrets(text).endswith(f"[{UNSEARCHED}, masked]")
    assert time.process_time() - started < 10


def test_a_long_text_is_searched_in_pieces() -> None:
    """A secret is found wherever it is, also at the border of two pieces, and once."""
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    for before in (0, 65_000, 65_500, 65_520, 65_535, 65_536, 130_000, 200_000):
        text = "word " * (before // 5) + secret + " word" * 30_000
        (found,) = find_secrets(text)
        assert text[found.start : found.end] == secret


_NAMES_BEFORE = (
    "password", "api_key", "token", "--secret", "client secret", "PGPASSWORD", "signature", "credential", "key", "cookie: a",
    "Authorization: Bearer", "mysql -p", "?sig", "identified by",
)  # fmt: skip
_BETWEEN = ("=", ": ", " is ", ': "', "='", " ", "=>", " := ", "` : `", "     =     ")
_VALUES_AFTER = (
    "aB3dE5gH7jK9", "0123456789abcdef", "x9Fk2", "correct-horse-battery", "123456789012", "12345678", "ABCDEFGHIJKLMN12",
    "a1b2-c3d4-e5f6", "ä1b2c3d4e5f6", "p4ssw0rdLongEnough!", "Zm9vOmJhcg==",
)  # fmt: skip


@given(
    st.lists(
        st.sampled_from(
            (*_NAMES_BEFORE, *_BETWEEN, *_VALUES_AFTER, " ", "\n", "x", ".", "of 2026-11-26 v1.2.3", "'", '"')
        ),
        max_size=12,
    ).map("".join)
)
def test_looking_only_around_digits_misses_nothing(text: str) -> None:
    """Names of secrets are looked for near values that could be random; looking everywhere finds the same."""
    everywhere = [(0, len(text))]
    values = (
        *secret_shapes._find_values(text, "", everywhere),
        *secret_shapes._find_random(text, everywhere),
    )
    expected = list(secret_shapes.drop_overlaps((*secret_shapes._find_tokens(text, everywhere), *values)))
    assert list(find_secrets(text)) == expected
