"""Sentences for refusals that the kernel and hosts share.

Callers pass names and lists in display form: the kernel quotes and shortens them for a terminal, a host for a model.
"""

from __future__ import annotations


def say_unknown_domain(domain: str) -> str:
    """Say that no catalog declares the domain.

    >>> say_unknown_domain("`cooking`")
    'no catalog declares domain `cooking`'
    """
    return f"no catalog declares domain {domain}"


def say_unmapped_alias(word: str) -> str:
    """Say that the organization lists the alias as unmapped."""
    return f"{word} is an alias that means no domain here"


def say_unhandled_domain(domain: str) -> str:
    """Say that the domain is declared, but no role handles it."""
    return f"no role handles domain {domain}"


def say_file_scope(who: str, globs: str) -> str:
    """Say where a role may write. The caller appends the attempted path."""
    return f"{who} may write only in {globs}"


def say_unlisted_tool(organization: str, tool: str) -> str:
    """Say that no catalog of the organization lists the tool."""
    return f"no tool catalog of {organization} lists {tool}"
