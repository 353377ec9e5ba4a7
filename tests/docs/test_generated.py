"""What is generated is what would be generated now."""

from __future__ import annotations

from zlib import decompress

from tests.support.trees import REPOSITORY
from tools.regenerate import generated_files, stale_files
from tools.site_sources import generated_pages


def test_generated_files_are_up_to_date() -> None:
    """Record modules, schemas and OpenAPI are not edited by hand: `make regenerate` writes them."""
    assert stale_files() == []


def test_generated_files_are_written_where_they_are_looked_for() -> None:
    """Below the repository, with one newline at the end."""
    for name, content in generated_files().items():
        assert (REPOSITORY / name).resolve().is_relative_to(REPOSITORY)
        text = content if isinstance(content, str) else decompress(content).decode()
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_pages_built_with_the_site_are_not_checked_in() -> None:
    """A page that follows from the code has no copy in the repository that could differ from it."""
    assert [name for name in generated_pages() if (REPOSITORY / name).exists()] == []
