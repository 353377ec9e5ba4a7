"""Sentences that refuse, where the kernel and a host say the same one. Each stands here once.

Names and lists come as they are shown: the kernel quotes and shortens them for a terminal, a host for a model.
"""

from __future__ import annotations


def say_unknown_domain(domain: str) -> str:
    """No catalog has the word.

    >>> say_unknown_domain("`cooking`")
    'no catalog declares domain `cooking`'
    """
    return f"no catalog declares domain {domain}"


def say_unmapped_alias(word: str) -> str:
    """The organization takes the meaning of a word away."""
    return f"{word} is an alias that means no domain here"


def say_unhandled_domain(domain: str) -> str:
    """The domain is declared, and nobody takes it."""
    return f"no role handles domain {domain}"


def say_file_scope(who: str, globs: str) -> str:
    """Where a role may write; what it tried follows."""
    return f"{who} may write only in {globs}"


def say_unlisted_tool(organization: str, tool: str) -> str:
    """No catalog that the organization sees has the tool."""
    return f"no tool catalog of {organization} lists {tool}"
