"""Shared code of the rules about agents in other formats: the original words of an agent's file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import StandingOrder
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition, RolePost
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from orgkernel.loading.formats.lookups import get_missing
from orgkernel.loading.formats.references import TextReference, get_references
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import NAME_IN_FILE, NAMES_BEFORE, SourceDocument
from orgkernel.runtime.lazy_patterns import lazy_pattern

CLAUDE_CODE = "claude-code"
CREWAI = "crewai"
AGENT_SPEC = "agent-spec"
A2A = "a2a"
COPILOT = "copilot"
OPENCODE = "opencode"
GEMINI_CLI = "gemini-cli"
KIRO = "kiro"
ROO = "roo"

EVERY = "*"
_CHOOSING = frozenset({CLAUDE_CODE, COPILOT})
SAME_TOOL: Final = {"Task": "Agent", "Agent": "Task"}
"""The tool of Claude Code that has two names: its files may use either."""
# Tools that start other agents, as hosts call them.
_STARTING = frozenset({"Agent", "Task", "agent", "runSubagent", "agent/runSubagent"})


_STARTS = tuple(_STARTING)
_LOCAL = "deterministic_function"
COORDINATES = lazy_pattern(
    r"\b(?:co-?ordinat|orchestrat|delegat)(?:e|es|ing|ors?)\b|\b(?:dispatcher|conductor)\b", re.IGNORECASE
)
"""Words for an agent that hands work to others."""
_SAYS_COORDINATOR = lazy_pattern(
    r"\byou (?:\w+ ){0,2}(?:co-?ordinate|orchestrate|delegate)\b|\byou are (?:an? |the )?(?:[\w-]+ ){0,3}(?:co-?ordinator|orchestrator)\b",
    re.IGNORECASE,
)
_NEVER_WRITES = lazy_pattern(
    r"\b(?:never|do not|don't|must not) (?:\w+ ){0,2}(?:write|edit|implement|modify|change|touch)s? "
    r"(?:(?!shared|unassigned|unrelated|others?\b|existing)[\w-]+ ){0,4}"
    r"(?:yourself|itself|code|files?)\b(?! (?:outside|beyond|that|which|you|in|of|from|other|not|unless|without|until|if)\b)",
    re.IGNORECASE,
)
_FIELDS = ("tools", "disallowedTools")


@cache
def list_built_in_agents() -> frozenset[str]:
    """The names of the agents that come with Claude Code."""
    return frozenset(read_host_table()["built_in_agents"])


@cache
def list_built_in_commands() -> frozenset[str]:
    """The names of the commands that come with Claude Code."""
    return frozenset(read_host_table()["built_in_commands"])


class AgentDelegates(NamedTuple):
    """The agents to which an agent may hand tasks, according to the fields of its file."""

    named: tuple[tuple[str, int, str], ...]
    """Field, position in it, and name of an agent."""
    anyone: bool
    """Whether a field allows every agent."""
    taken: tuple[tuple[str, int, str], ...]
    """Names that a field excludes."""

    @property
    def is_limited(self) -> bool:
        """Whether only named agents may be started."""
        return bool(self.named) and not self.anyone


_NOBODY = AgentDelegates((), False, ())


def iterate_agents(view: OrgView, *formats: str) -> Iterator[RolePost]:
    """The roles of an organization that were read from another format, optionally only from some formats."""
    for post in view.records.posts.values():
        format = post.document.format
        if format and (not formats or format in formats):
            yield post


def list_names(post: RolePost) -> tuple[str, ...]:
    """The names by which other agents can refer to an agent: its name, its id, and both without the name of its
    source.
    """
    return (post.profile.name, post.role_id, *get_written_words(post).get(NAMES_BEFORE, ()))


def collect_names(posts: Iterable[RolePost]) -> frozenset[str]:
    """All names by which some agents can be referred to."""
    return frozenset(name for post in posts for name in list_names(post))


def group_identical_agents(view: OrgView) -> list[list[RolePost]]:
    """The agents that are word for word the same, apart from their names. Each group has at least two.

    Agents without a text are the same only if they have the same name, apart from the prefix of their source.
    """
    groups: dict[tuple[Any, ...], list[RolePost]] = defaultdict(list)
    for post in iterate_agents(view):
        written = get_written_words(post)
        before = written.get(NAMES_BEFORE)
        words = sorted(
            (key, tuple(map(str, value)))
            for key, value in written.items()
            if key not in (NAMES_BEFORE, NAME_IN_FILE)
        )
        texts = tuple(order.record.body for order, _ in list_texts(view, post))
        name = written.get(NAME_IN_FILE, [before[1] if before else post.profile.name])[0]
        model = post.profile.requirements.preferred_model
        groups["" if any(texts) else name, post.profile.description, model, tuple(words), texts].append(post)
    return [each for each in groups.values() if len(each) > 1]


def list_documents_of_kind(
    view: OrgView, kind: str, *formats: str
) -> Iterator[tuple[SourceDocument, Mapping[str, Sequence[str]]]]:
    """The catalogs of one kind from files in other formats, optionally only from some formats, each with the words of
    its file.
    """
    for document in view.records.catalogs:
        if document.kind != kind or not document.format or document.context:
            continue
        if not formats or document.format in formats:
            yield document, get_list_words(document)


def get_written_words(post: RolePost) -> Mapping[str, Sequence[str]]:
    """The words of each list in an agent's file, keyed by field."""
    return get_list_words(post.document)


def is_chosen_by_description(post: RolePost) -> bool:
    """Whether the host of an agent chooses it by its description, and gives it every tool if its file lists none."""
    return post.document.format in _CHOOSING


def list_texts(
    view: OrgView, post: RolePost
) -> Iterator[tuple[Definition[StandingOrder], Sequence[TextReference]]]:
    """The texts of an agent, each with its references."""
    for order in view.records.orders.get(("role", post.role_id), ()):
        if order.document.format:
            yield order, get_references(order.document)


def find_missing(view: OrgView) -> Iterator[tuple[SourceDocument, str, str, Sequence[TextReference]]]:
    """Texts with missing references: the document, the owner of the text, its subject, and the references."""
    for post in iterate_agents(view):
        for order in view.records.orders.get(("role", post.role_id), ()):
            if references := _find_missing(order.document):
                yield order.document, f"agent {quote(post.profile.name)}", f"role:{post.role_id}", references
    for name, skill in view.records.cognitive_skills.items():
        if references := _find_missing(skill.document):
            yield skill.document, f"skill {quote(name)}", f"cognitive_skill:{name}", references


def _find_missing(document: SourceDocument) -> Sequence[TextReference]:
    return get_missing(document) if document.format else ()


def list_writing_tools(view: OrgView) -> list[str]:
    """The tools that change files in the workspace, without shells."""
    return [
        tool
        for tool, each in view.records.tools.items()
        if each.record.side_effects == "write" and each.record.opens_files and each.record.type == _LOCAL
    ]


def is_coordinator_that_never_writes(view: OrgView, post: RolePost) -> bool:
    """Whether an agent coordinates others, and its instructions say that it never writes files itself."""
    named, texts = (
        f"{post.profile.name} {post.profile.description}",
        [order.record.body for order, _ in list_texts(view, post)],
    )
    is_coordinator = COORDINATES.search(named) is not None or any(map(_SAYS_COORDINATOR.search, texts))
    return is_coordinator and any(map(_NEVER_WRITES.search, (named, *texts)))


def has_tool(post: RolePost, tool: str) -> bool:
    """Whether an agent has a tool, or part of it. True if the answer is not known."""
    words = get_written_words(post)
    if "tools" not in words or EVERY in words["tools"]:
        return all(word.strip() != tool for word in words.get("disallowedTools", ()))
    other = SAME_TOOL.get(tool, tool)
    plain = {word.partition("(")[0].strip() for word in words["tools"]}
    return bool(plain & {tool, other}) or tool in post.profile.capabilities.tools_primary


def get_delegates(post: RolePost) -> AgentDelegates:
    """The agents to which an agent may hand tasks, according to its `agents` and to `Agent(NAME)` among its tools."""
    words = get_written_words(post)
    if "agents" not in words and not any(
        word.startswith(_STARTS) for field in _FIELDS for word in words.get(field, ())
    ):
        return _NOBODY
    listed = [("agents", number, name) for number, name in enumerate(words.get("agents", ()))]
    anyone = any(name == EVERY for _, _, name in listed)
    named = [each for each in listed if each[2] != EVERY]
    for number, word in enumerate(words.get("tools", ())):
        tool, has_names, names = word.partition("(")
        if tool.strip() not in _STARTING:
            continue
        if has_names:
            named += [("tools", number, name) for name in _split(names)]
        elif not listed:
            anyone = True
    taken = [
        ("disallowedTools", number, name)
        for number, word in enumerate(words.get("disallowedTools", ()))
        if word.partition("(")[0].strip() in _STARTING
        for name in _split(word.partition("(")[2])
    ]
    return AgentDelegates(tuple(named), anyone, tuple(taken))


def _split(names: str) -> list[str]:
    return [each.strip() for each in names.removesuffix(")").split(",") if each.strip() not in ("", EVERY)]
