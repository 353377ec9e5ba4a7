"""Reads a custom agent: a Markdown file whose front matter becomes a role, and whose text becomes the role's standing
orders.

`whole` adds the facts that depend on other files: which tools exist, and which agents the agent may start. The
original lists of the front matter are kept next to the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ChainOfCommand, Requirements, RoleProfile, StandingOrder
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.copilot.layout import AGENT, MODE, get_agent_stem
from orgkernel.loading.formats.front_matter import FrontMatter, find_misspelled, is_text, read_front_matter
from orgkernel.loading.formats.host_fields import pack_host_fields
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.servers import TARGETS, list_targets
from orgkernel.loading.formats.suppressions import SUPPRESSIONS, read_suppressions
from orgkernel.loading.formats.words import read_words
from orgkernel.loading.markdown import split_front_matter
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult

KIND = "role_profile"
TOOLS, STARTS, HANDOFFS, SERVERS = "tools", "agents", "handoffs", "mcp-servers"
NOT_STARTED = "disable-model-invocation"
_FIRST = pack_mark(1, 1)
_OF_THE_HOST = ("argument-hint", "user-invocable", NOT_STARTED, "infer", "target", "hooks", "metadata")
_FIELDS = (
    "name", "description", "argument-hint", TOOLS, STARTS, "model", "user-invocable", NOT_STARTED, "infer", "target",
    SERVERS, HANDOFFS, "hooks", "metadata", "mode",
)  # fmt: skip


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role and the orders of an agent. Empty for another Markdown file in the folder of agents."""
    front = _read_front_matter(source)
    if front is None:
        return FileResult(skipped=True)
    if any(each.is_error for each in front.problems):
        return read_broken(source, KIND, front.problems)
    return _read_role(source, root, front)


def _read_front_matter(source: SourceText) -> FrontMatter | None:
    """The front matter. It is optional in a file with an agent's suffix."""
    is_agent = source.path.endswith((AGENT, MODE))
    if source.problem is None and is_agent and split_front_matter(source.text) is None:
        return FrontMatter({}, {}, _FIRST, [], source.text, _FIRST)
    return read_front_matter(source, (TOOLS, STARTS, "model"))


def _read_role(source: SourceText, root: Root, front: FrontMatter) -> FileResult:
    value, marks, problems = front.value, dict(front.marks), front.problems
    for key in ("name", "description"):
        if not isinstance(value.get(key, ""), str):
            text = f"the field {quote(key)} is {describe(value[key])}, not a string"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[key][1]), text))
    if any(each.row is row.WRONG_TYPE for each in problems):
        return read_broken(source, KIND, problems)
    name = value.get("name", "").strip() or get_agent_stem(source.path)
    named = marks["name"] if value.get("name", "").strip() else (front.start, front.start)
    role_id = convert_to_id(name)
    if not role_id or len(role_id) > MAX_NAME_LENGTH:
        text = f"the name has more than {MAX_NAME_LENGTH} characters" if role_id else "the agent has no name"
        return read_broken(
            source, KIND, [*problems, DocumentProblem(row.MALFORMED_ID, start_of(named[1]), text)]
        )
    problems += find_misspelled(value, marks, _FIELDS, "GitHub Copilot")
    raw: dict[str, Any] = {**pack_host_fields(value, _OF_THE_HOST)}
    for key in (TOOLS, STARTS, "model"):
        if key == TOOLS and key in value and not _is_text_or_list(value[key], start_of(marks[key][1])):
            problems.append(_warn_of_every_tool(value[key], marks[key][0]))
        elif key in value:
            words = list(read_words(key, value[key], marks[key][1], problems))
            raw[key] = [word for word, _ in words]
            marks[key] = (marks[key][0], (start_of(marks[key][1]), [mark for _, mark in words]))
    if HANDOFFS in value:
        raw[HANDOFFS] = list(_read_handoffs(value[HANDOFFS], marks[HANDOFFS][1], problems))
    if SERVERS in value:
        raw[SERVERS] = list(_read_servers(value[SERVERS], marks[SERVERS][1], problems))
        if raw[SERVERS]:
            raw[TARGETS] = list_targets(value[SERVERS])
    if _is_not_started(value, marks, problems):
        raw[NOT_STARTED] = ["true"]
    models = raw.get("model", [])
    record = RoleProfile(
        role_id=role_id,
        role_name=name,
        description=value.get("description", "").strip(),
        chain_of_command=ChainOfCommand(reports_to="user"),
        requirements=Requirements(preferred_model=models[0] if models else None),
        suppressions=tuple(read_suppressions(value, marks, problems)),
    )
    below = {**marks, "role_id": named, "role_name": named}
    if SUPPRESSIONS in marks:
        below["suppressions"] = marks[SUPPRESSIONS]
    if models:
        first = marks["model"][1][1][0]
        below["requirements"] = (marks["model"][0], (first, {"preferred_model": (first, first)}))
    documents = [read_as(source, root, KIND, record, (front.start, below), raw)]
    if front.body.strip():
        order = StandingOrder(audience="role", target=role_id, body=front.body)
        order_marks = (front.start, {"body": (front.body_mark, front.body_mark)})
        documents.append(read_as(source, root, "standing_order", order, order_marks))
    return FileResult(tuple(documents), (), tuple(build_diagnostic(source, each) for each in problems))


def _is_text_or_list(value: Any, mark: int) -> bool:
    """Whether the hosts read a value as text or as more than a scalar, and not as null, a number or a boolean."""
    return not isinstance(value, str) or is_text(value, mark, "GitHub Copilot")


def _warn_of_every_tool(value: str, mark: int) -> DocumentProblem:
    """The warning about `tools` that hosts read in two ways, of which the wider one counts."""
    text = f"`{TOOLS}` is {quote(value) if value else 'empty'}, so VS Code gives the agent every tool, and the command line does not load it"
    return DocumentProblem(row.EFFECTLESS_PERMISSION, mark, text, "write a list; `[]` is no tool")


def _read_handoffs(value: Any, marks: Marks, problems: list[DocumentProblem]) -> Iterator[str]:
    """The agents to which work is handed. An unreadable entry becomes an empty string, so positions match the list."""
    if not isinstance(value, tuple):
        text = f"`{HANDOFFS}` is {describe(value)}, not a list"
        problems.append(
            DocumentProblem(row.WRONG_TYPE, start_of(marks), text, "write `- {label: …, agent: …}` for each")
        )
        return
    for item, mark in zip(value, marks[1], strict=True):
        agent = item.get("agent") if isinstance(item, dict) else None
        if isinstance(agent, str) and agent.strip():
            yield agent.strip()
        else:
            problems.append(
                DocumentProblem(row.WRONG_TYPE, start_of(mark), "the handoff does not name an `agent`")
            )
            # Entries are matched with their marks by position, so an unreadable one must not shift those after it.
            yield ""


def _read_servers(value: Any, marks: Marks, problems: list[DocumentProblem]) -> Iterator[str]:
    """The MCP servers that an agent declares for itself."""
    if isinstance(value, dict):
        yield from value
    else:
        text = f"`{SERVERS}` is {describe(value)}, not a mapping"
        problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks), text))


def _is_not_started(
    value: dict[str, Any], marks: dict[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> bool:
    """Whether other agents never start it on their own. The older field has the opposite meaning."""
    for key, meaning in ((NOT_STARTED, "true"), ("infer", "false")):
        if key in value:
            written = value[key]
            if written not in ("true", "false"):
                value_text = quote(written) if isinstance(written, str) else describe(written)
                text = f"the field {quote(key)} is {value_text}, not `true` or `false`"
                # Read as "never started": the reading with fewer permissions, until the value is corrected.
                problems.append(DocumentProblem(row.UNKNOWN_VALUE, start_of(marks[key][1]), text))
                return True
            return bool(written == meaning)
    return False
