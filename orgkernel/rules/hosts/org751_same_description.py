"""Two agents have the same description, so a host cannot tell which of them to choose.

## What it checks

The descriptions of two agents differ in more than a few words.

## Why it matters

The description is all that hosts read when they hand a task to an agent. If two agents have the same description, the
host picks one at random and never uses the other.

## Example

```markdown
---
name: api-reviewer
description: Reviews changes for correctness and style. Use after every change.
---
```

and

```markdown
---
name: page-reviewer
description: Reviews changes for correctness and style. Use after every change.
---
```

## Instead

```markdown
---
name: page-reviewer
description: Reviews changes of web pages for accessibility. Use after a template was changed.
---
```

## Known limits

Descriptions are compared by their words, without their order. Descriptions that share at least nine of ten words are
treated as the same. Descriptions of fewer than three words are compared as a whole. Roles in orgkernel documents are
chosen by domains and examples, which ORG306 and ORG316 compare. Agents that are word for word the same are one finding of
ORG768.

## Since

0.1
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from operator import itemgetter

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import group_identical_agents, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_WORD = lazy_pattern(r"\w+")
_MIN_SHARED = 0.9
_MIN_WORDS = 3
_ByWord = dict[str, dict[tuple[int, int], list[tuple[int, RolePost, frozenset[str]]]]]
"""Agents with their numbers and words, by one of their rarest words, its position among these, and the number of all words."""


def check(view: OrgView) -> Iterator[Finding]:
    """Find agents with the description of an earlier agent, each once."""
    # ORG768 reports agents that are identical word for word. Here they would be a second finding with the same cause.
    copies = {post.role_id for group in group_identical_agents(view) for post in group[1:]}
    word_sets = [
        (post, frozenset(_WORD.findall(post.profile.description.casefold())))
        for post in iterate_agents(view)
        if post.role_id not in copies
    ]
    word_counts = Counter(word for _, word_set in word_sets for word in word_set)
    exact: dict[frozenset[str], RolePost] = {}
    by_word: _ByWord = defaultdict(lambda: defaultdict(list))
    for number, (post, word_set) in enumerate(word_sets):
        if not word_set:
            continue
        rarest = _find_rarest(word_set, word_counts)
        other = exact.get(word_set) or _find_nearly_same(word_set, rarest, by_word)
        if other is not None:
            how = "the same" if exact.get(word_set) else "nearly the same"
            yield Finding(
                post.document.place("description"),
                f"agents {quote(other.profile.name)} and {quote(post.profile.name)} have {how} description",
                "describe what only this agent is for, or keep one of them",
                f"role:{post.role_id}",
                (
                    Related(
                        other.document.place("description"), f"the description of {quote(other.profile.name)}"
                    ),
                ),
            )
        exact.setdefault(word_set, post)
        for position, word in enumerate(rarest):
            by_word[word][position, len(word_set)].append((number, post, word_set))


def _find_nearly_same(word_set: frozenset[str], rarest: list[str], by_word: _ByWord) -> RolePost | None:
    size = len(word_set)
    if size < _MIN_WORDS:
        return None
    for position, word in enumerate(rarest):
        nearly_same = [
            (number, post)
            for (other_position, other_size), entries in by_word[word].items()
            # The words of both sets are in one order, and two sets that share a rarer word were compared by that one. So they
            # share at most this word and those behind it (positional filtering). Without this filter, agents whose
            # descriptions follow one pattern would all be compared with each other.
            if _does_share_enough(min(size - position, other_size - other_position), size + other_size)
            for number, post, others in entries
            if _does_share_enough(len(word_set & others), size + other_size)
        ]
        if nearly_same:
            return min(nearly_same, key=itemgetter(0))[1]
    return None


def _does_share_enough(shared: int, total: int) -> bool:
    """Whether two sets with so many words together, those in both counted twice, share nine of ten words."""
    return shared >= _MIN_SHARED * (total - shared)


def _find_rarest(word_set: frozenset[str], count: Counter[str]) -> list[str]:
    """The rarest words of a description. Any two descriptions that share enough words share one of these."""
    # Comparing every pair would take minutes for thousands of agents. If two sets share nine tenths, at most a tenth of
    # the words of one is missing in the other, so any slightly larger part of it has a word of both (prefix filtering).
    ordered = sorted(word_set, key=lambda word: (count[word], word))
    return ordered[: len(ordered) - int(_MIN_SHARED * len(ordered)) + 1]


RULE = Rule("ORG751", "same-description", Severity.WARNING, RuleTarget.ORGANIZATION, check)
