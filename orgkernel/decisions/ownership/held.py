"""Whose commits must follow a brief: those of everyone, or only of agents, as the governance document declares.

An agent is recognized by a variable of its environment or by the author of its commits. It can hide both, so the check on a
server is the one that counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orgkernel.documents.records import CommitRules


@cache
def list_agent_variables() -> tuple[str, ...]:
    """Variables that coding agents set for the programs that they start (`ontology/hosts/agent_variables.yaml`)."""
    from orgkernel.loading.shipped_tables import read_ontology_table

    table = read_ontology_table("hosts", "agent_variables.yaml")
    return tuple(name for names in table["variables"].values() for name in names)


def is_held(rules: CommitRules | None, variables: Mapping[str, str], authors: Iterable[str]) -> bool:
    """Whether a commit or a push without a brief is refused. `authors` are email addresses.

    >>> from orgkernel.documents.records import CommitRules
    >>> is_held(CommitRules(held="agents"), {"HOME": "/"}, []), is_held(CommitRules(held="agents"), {"CLAUDECODE": "1"}, [])
    (False, True)
    """
    if rules is None or rules.held == "everyone":
        return True
    known = list_agent_variables() if rules.agent_variables is None else rules.agent_variables
    return any(variables.get(name) for name in known) or any(is_agent(rules, each) for each in authors)


def is_agent(rules: CommitRules, author: str) -> bool:
    """Whether the author of a commit is an agent, by the email address."""
    return any(fnmatchcase(author.casefold(), pattern.casefold()) for pattern in rules.agent_authors)
