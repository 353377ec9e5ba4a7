"""When the detector of secrets is asked, and what does not switch it off."""

from __future__ import annotations

import pytest

from orgkernel.rules.hygiene import known_tokens
from orgkernel.rules.hygiene.known_tokens import find_known_tokens, may_hold_token
from orgkernel.runtime.secret_shapes import UNSEARCHED
from tests.support.trees import REPOSITORY

TOKEN = "pul-" + "0123456789abcdef0123456789abcdef01234567"


def test_no_text_that_is_shipped_loads_it() -> None:
    """Its rules take a second: no template and nothing of the shared ontology may need them."""
    files = [each for folder in ("templates", "ontology") for each in (REPOSITORY / folder).rglob("*.yaml")]
    assert len(files) > 30
    assert [each.name for each in files if may_hold_token(each.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "text",
    [
        f"Use {TOKEN}.",
        f"{TOKEN} # gitleaks:allow kingfisher:ignore pragma: allowlist secret",
        f"ünïcödé {TOKEN}",
    ],
)
def test_a_token_is_found_in_its_place(text: str) -> None:
    """Also after letters of several bytes, and whatever a comment says."""
    (found,) = find_known_tokens(text)
    assert (text[found.start : found.end], found.masked) == (TOKEN, "…")
    assert found.what == "a secret (`pulumi-api-token`)"


@pytest.mark.parametrize(
    "word", ["http1MaxPendingRequests", "oauth2ClientCredentials", "CrashLoopBackOff", "E1042"]
)
def test_a_name_does_not_load_it(word: str) -> None:
    """Words in one with a number among them are names."""
    assert not may_hold_token(f"Set `{word}: 3` in the mesh.")


def test_tokens_of_a_long_text_are_found_in_their_places() -> None:
    """Only the neighborhood of words that could be tokens is searched."""
    text = f"{'wörd ' * 9_000}{TOKEN} {'word ' * 9_000}{TOKEN} end"
    assert [text[each.start : each.end] for each in find_known_tokens(text)] == [TOKEN, TOKEN]


def test_a_text_beyond_the_budget_is_told() -> None:
    """The rest is one secret of its own kind."""
    found = list(find_known_tokens(f"{TOKEN} " * 20_000))
    assert found[-1].what == UNSEARCHED


def test_without_the_library_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own table still finds its tokens, and no check fails."""
    monkeypatch.setattr(known_tokens, "is_installed", lambda: False)
    assert list(find_known_tokens(TOKEN)) == []
