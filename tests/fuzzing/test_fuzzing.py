"""The fuzzer keeps what it learned, and finds errors and slow answers. `make fuzz` runs it for hours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzzing.fuzzer import fuzz
from tests.fuzzing.readers import FuzzedReader, list_readers
from tests.support.depth import DEPTH


def fail_at_braces(content: bytes) -> object:
    """A reader that fails at two braces, and answers by the number of other signs."""
    if b"{{" in content:
        raise ValueError("two braces")
    return content.count(b"a") // 4


def test_a_failure_is_found_and_kept(tmp_path: Path) -> None:
    """With the text that failed, and with texts that were answered in a new way for the next run."""
    reader = FuzzedReader(fail_at_braces, (b"aaaa",))
    result = fuzz(reader, tmp_path, 1.0, seed=1)
    assert result.failures
    assert all(b"{{" in path.read_bytes() for path in result.failures)
    kept = sorted(path.read_bytes() for path in tmp_path.glob("*.txt"))
    assert len(kept) == result.kept > 0
    assert fuzz(reader, tmp_path, 0.1, seed=2).kept >= len(kept)


@pytest.mark.deep
@pytest.mark.parametrize("name", list_readers())
def test_no_reader_fails(tmp_path: Path, name: str) -> None:
    """No changed text raises an error or takes long."""
    result = fuzz(list_readers()[name](), tmp_path, 0.2 if DEPTH == 1 else 0.2 * DEPTH, seed=1)
    assert [path.read_bytes() for path in result.failures] == []
    assert result.texts > 0
