"""What is generated is what would be generated now."""

from __future__ import annotations

from tests.support.trees import REPOSITORY
from tools.regenerate import generated_files, stale_files


def test_generated_files_are_up_to_date() -> None:
    """Schemas, rule pages, OpenAPI: `make regenerate` writes them, and nobody edits them by hand."""
    assert stale_files() == []


def test_generated_files_are_written_where_they_are_looked_for() -> None:
    """Below the repository, with one newline at the end."""
    for name, text in generated_files().items():
        assert (REPOSITORY / name).resolve().is_relative_to(REPOSITORY)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
