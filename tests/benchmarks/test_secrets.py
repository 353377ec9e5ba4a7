"""The measurement of labeled secrets counts what it says, and what it says holds for other random characters, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.secret_texts import DATA, harmless_texts, secret_texts
from benchmarks.secrets import both, mask, measure, ours
from orgkernel.runtime.secret_shapes import find_secrets, name_secrets


def test_there_are_enough_texts_of_both_labels() -> None:
    """No two alike, and each secret where it is said to be."""
    secrets, harmless = secret_texts(), harmless_texts()
    assert len({each.text for each in secrets}) == len(secrets) >= 150
    assert len({each.text for each in harmless}) == len(harmless) >= 300
    assert all(0 <= each.start < each.end <= len(each.text) for each in secrets)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_file_holds_a_token(path: Path) -> None:
    """Tokens are put together at run time, so that no scanner finds them in the repository."""
    found = [each for each in find_secrets(path.read_text(encoding="utf-8")) if each.what != "a secret"]
    assert found == []


@pytest.mark.parametrize("seed", [20_261_123, 7])
def test_the_figures_hold(seed: int) -> None:
    """Of the named shapes none is missed, and few harmless texts raise an alarm."""
    alone, with_library, masked = (measure(find, seed) for find in (ours, both, mask))
    assert alone.secrets["shapes"] == with_library.secrets["shapes"] == (108, 108)
    assert masked.secrets["shapes"] == (108, 108)
    assert alone.secrets["assigned"][0] >= 38
    assert with_library.secrets["others"][0] >= alone.secrets["others"][0] + 20
    assert sum(alone.alarms.values()) <= 1
    assert sum(with_library.alarms.values()) <= 1
    assert sum(masked.alarms.values()) <= 10


def test_what_is_masked_stays_masked() -> None:
    """Masking again changes nothing, so that a stored text can be stored again."""
    for each in secret_texts():
        masked = name_secrets(each.text)
        assert name_secrets(masked) == masked
