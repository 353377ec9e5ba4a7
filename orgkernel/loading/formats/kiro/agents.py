"""Reads an agent of Kiro: a JSON file, or a Markdown file with front matter, with the same fields.

`tools` lists what an agent has. Everything else only says how it may use that: tools need an approval, except for reading the
project. `allowedTools` and `permissions` change this; a rule that denies wins over one that asks, and that over one that allows.
`toolsSettings` is of CLI 2, which `permissions` replaced. It limits an agent in JSON without `permissions`; otherwise current
versions of Kiro ignore it, and a finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.coding_agents import (
    EFFECTS,
    EVERY,
    KIND,
    AgentFile,
    ToolEffect,
    ToolRule,
    build_role,
)
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.front_matter import find_misspelled, read_front_matter
from orgkernel.loading.formats.kiro.host_table import BUILT_IN, SERVERS, SHELL, STARTER, read_host_table
from orgkernel.loading.formats.kiro.layout import JSON_AGENT, get_agent_name
from orgkernel.loading.formats.kiro.servers import list_approved, list_denied
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.servers import FIELD, list_targets
from orgkernel.loading.formats.suppressions import read_suppressions
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.markdown import split_front_matter
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.runtime.lazy_patterns import lazy_pattern

_TOOLS, _ALLOWED, _EXCLUDED = "tools", "allowedTools", "excludedTools"
_PERMISSIONS, _RULES, _SETTINGS = "permissions", "rules", "toolsSettings"
_PROMPT, _FILE = "prompt", "file://"
_CAPABILITY, _EFFECT, _MATCH, _EXCLUDE = "capability", "effect", "match", "exclude"
_FIELDS = (
    "$schema", "name", "description", _PROMPT, "model", _TOOLS, _ALLOWED, _EXCLUDED, _PERMISSIONS, _SETTINGS, FIELD, "toolAliases",
    "includeMcpJson", "useLegacyMcpJson", "includePowers", "resources", "hooks", "keyboardShortcut", "welcomeMessage",
)  # fmt: skip
# Regular expressions of commands that are their beginning and whatever follows, without anything else that is special.
_BEGINNING = lazy_pattern(r"\^?([A-Za-z0-9_/:@%, =~-]+)\.\*\$?\Z")


class _AgentText(NamedTuple):
    """The fields of a file, and its text."""

    fields: FieldReader
    body: str
    body_mark: int
    is_json: bool


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file. Empty for Markdown without front matter, such as the text to which `prompt` of an agent refers."""
    if source.path.endswith(JSON_AGENT):
        mapping = read_mapping(source, parse_json)
        if mapping.problems:
            return read_broken(source, KIND, list(mapping.problems))
        fields = FieldReader(mapping.value, (mapping.start, mapping.marks), "the agent", mapping.start)
        return _read_fields(source, root, _AgentText(fields, "", pack_mark(1, 1), is_json=True))
    if source.problem is None and split_front_matter(source.text) is None:
        return FileResult(skipped=True)
    front = read_front_matter(source, (_TOOLS, _ALLOWED, _EXCLUDED))
    if front is None:
        return FileResult(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.problems)
    fields = FieldReader(front.value, (front.start, front.marks), "the agent", front.start)
    fields.problems += front.problems
    return _read_fields(source, root, _AgentText(fields, front.body, front.body_mark, is_json=False))


def _read_fields(source: SourceText, root: Root, text: _AgentText) -> FileResult:
    """The role of one agent."""
    fields = text.fields
    marks = dict(fields.marks)
    stated = fields.get_text("name")
    name = stated or get_agent_name(source.path)
    fields.subject = f"agent {quote(name)}"
    description, model, prompt = (fields.get_text(key) for key in ("description", "model", _PROMPT))
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    servers = _read_servers(fields)
    rules, listed = _read_rules(fields, list(servers), is_json=text.is_json)
    suppressions = tuple(read_suppressions(dict(fields.value), marks, fields.problems))
    if fields.is_refused:
        return read_broken(source, KIND, fields.problems)
    body, body_mark = text.body, text.body_mark
    if not body.strip() and prompt and not prompt.startswith(_FILE):
        body, body_mark = prompt, fields.start(_PROMPT)
    agent = AgentFile(
        name=name,
        name_marks=marks["name"] if stated else (fields.at, fields.at),
        description=description,
        rules=rules,
        has_every_tool=False,
        lists_tools=isinstance(fields.value.get(_TOOLS), tuple),
        listing_rules=listed,
        model="" if model == "auto" else model,
        model_mark=fields.start("model") if model else 0,
        servers=list(servers.items()),
        targets=list_targets({each: fields.value[FIELD][each] for each in servers}),
        body=body,
        body_mark=body_mark,
        suppressions=suppressions,
    )
    problems = [*fields.problems, *find_misspelled(fields.value, marks, _FIELDS, "Kiro")]
    return build_role(source, root, agent, (fields.at, marks), problems)


def _read_servers(fields: FieldReader) -> dict[str, int]:
    """The servers that an agent declares for itself, each with its mark."""
    written = fields.value.get(FIELD)
    if isinstance(written, dict):
        return {each: fields.marks[FIELD][1][1][each][0] for each in written}
    if written is not None:
        fields.refuse(
            FIELD,
            f"{quote(FIELD)} of {fields.subject} is {describe(written)}, not a mapping",
            row=row.WRONG_TYPE,
        )
    return {}


def _read_rules(fields: FieldReader, servers: list[str], *, is_json: bool) -> tuple[list[ToolRule], int]:
    """The rules about tools in the order in which they apply, and how many of the first ones list tools.

    Later rules win, so those that ask follow those that allow, and those that deny are last. A rule and its exceptions stay
    together.
    """
    listed = [ToolRule("allow", word, mark) for word, mark in _list_tools(fields, servers)]
    start = fields.start(_TOOLS)
    groups: list[list[ToolRule]] = [[ToolRule("allow", word, start)] for word in read_host_table()["trusted"]]
    allowed = []
    for word, mark in _read_words(fields, _ALLOWED):
        if word == EVERY:
            text = f"{quote(_ALLOWED)} lists `*`, which Kiro does not read there, so it allows nothing"
            help = f"write {quote(BUILT_IN)}, and `@SERVER` for each server"
            fields.problems.append(DocumentProblem(row.EFFECTLESS_PERMISSION, mark, text, help))
        allowed += [ToolRule("allow", each, mark) for each in _expand(word) if each != EVERY]
    groups += [[each] for each in allowed]
    if isinstance(own := fields.value.get(FIELD), dict):
        at = fields.marks[FIELD][1][1]
        groups += [[each] for each in list_approved(own, at, fields.problems)]
        groups += [[each] for each in list_denied(own, at, fields.problems)]
    groups += _read_permissions(fields)
    groups += _read_settings(fields, {each.tool for each in allowed}, is_json=is_json)
    groups += [[ToolRule("deny", word, mark)] for word, mark in _read_words(fields, _EXCLUDED)]
    groups.sort(key=lambda group: EFFECTS.index(group[0].effect))
    later = [rule for group in groups for rule in group]
    return [*listed, ToolRule("ask", EVERY, start), *later], len(listed)


def _list_tools(fields: FieldReader, servers: list[str]) -> list[tuple[str, int]]:
    """The words for the tools that an agent has. Without `tools`, it has every tool, which is the wider reading."""
    words = list(_read_words(fields, _TOOLS)) if _TOOLS in fields.value else [(EVERY, fields.at)]
    if fields.get_flag("includeMcpJson") is not False:
        return words
    # The servers of the project are left out, so these words stand for the agent's own servers only.
    own = [f"@{each}" for each in servers]
    narrower = {EVERY: [BUILT_IN, *own], SERVERS: own}
    return [(each, mark) for word, mark in words for each in narrower.get(word, [word])]


def _read_words(fields: FieldReader, key: str) -> Iterator[tuple[str, int]]:
    """The words of a list of tools, each with its mark. A single word can be written without a list."""
    written = fields.value.get(key)
    if isinstance(written, str) and written.strip() and not set(written.strip()) & set(" ,[]"):
        words = [(written.strip(), fields.start(key))]
    else:
        words = fields.get_words(key)
        if fields.get_mappings(key):
            fields.refuse(key, f"{quote(key)} of {fields.subject} lists a mapping, not the name of a tool")
    for word, mark in words:
        yield word.removeprefix(f"{BUILT_IN}/"), mark


def _expand(word: str) -> list[str]:
    """A word, and the older names of tools that it matches, such as `fs_read` for `fs_*`.

    >>> _expand("fs_*"), _expand("shell")
    (['fs_*', 'fs_read', 'fs_write'], ['shell'])
    """
    if word.startswith("@") or word == EVERY or not set(word) & {"*", "?"}:
        return [word]
    glob = word.replace("[", "[[]")
    return [word, *(each for each in read_host_table()["names"] if fnmatchcase(each, glob))]


# -- permissions -------------------------------------------------------------------------------------------------------


def _read_permissions(fields: FieldReader) -> Iterator[list[ToolRule]]:
    """The rules of `permissions`: a list, or a mapping with a list of `rules`. A rule that cannot be read is refused."""
    written = fields.value.get(_PERMISSIONS)
    if written is None:
        if _PERMISSIONS in fields.value:
            fields.refuse(_PERMISSIONS, f"{quote(_PERMISSIONS)} of {fields.subject} is empty", "remove it")
        return
    holder, key = fields, _PERMISSIONS
    if isinstance(written, dict):
        holder = FieldReader(written, fields.marks[_PERMISSIONS][1], quote(_PERMISSIONS))
        key = _RULES
        holder.report_unknown((_RULES,), "Kiro", only_misspelled=False)
        if not isinstance(written.get(_RULES), tuple):
            holder.refuse(_RULES, f"{quote(_PERMISSIONS)} of {fields.subject} has no list of `rules`")
    for item, marks in holder.get_only_mappings(key, _CAPABILITY):
        yield from _read_rule(FieldReader(item, marks, f"a rule of {fields.subject}"), holder)
    if holder is not fields:
        fields.problems += holder.problems


def _read_rule(rule: FieldReader, holder: FieldReader) -> Iterator[list[ToolRule]]:
    """A rule and its exceptions, for each word of its capability."""
    capabilities = read_host_table()["capabilities"]
    capability, written = rule.get_text(_CAPABILITY, needed=True), rule.get_text(_EFFECT, needed=True)
    for key, value, known in ((_CAPABILITY, capability, capabilities), (_EFFECT, written, EFFECTS)):
        if value and value not in known:
            text = f"{quote(key)} of {rule.subject} is {quote(value)}, not {listing(map(quote, known))}"
            rule.refuse(key, text, row=row.UNKNOWN_VALUE)
    for key in rule.value:
        if key not in (_CAPABILITY, _EFFECT, _MATCH, _EXCLUDE):
            # A misspelled `match` would make the rule wider than its author meant.
            rule.refuse(key, f"the field {quote(key)} of {rule.subject} is unknown to Kiro", "remove it")
    matched, exempt = _read_globs(rule, _MATCH), _read_globs(rule, _EXCLUDE)
    holder.problems += rule.problems
    if rule.is_refused:
        return
    effect: ToolEffect = next(each for each in EFFECTS if each == written)
    for word in capabilities[capability]:
        group = [
            ToolRule(effect, *_place(word, capability, glob, mark))
            for glob, mark in matched or [(EVERY, rule.at)]
        ]
        if effect != "ask":
            # What a rule exempts needs an approval, as without rules.
            group += [ToolRule("ask", *_place(word, capability, glob, mark)) for glob, mark in exempt]
        yield group


def _place(word: str, capability: str, glob: str, mark: int) -> tuple[str, int, str]:
    """The tool, the mark and the part of a rule. The globs of servers name tools, and the others name parts of tools."""
    if glob in (EVERY, "**"):
        return word, mark, EVERY
    return (f"@{glob}", mark, EVERY) if capability == "mcp" else (word, mark, glob)


def _read_globs(rule: FieldReader, key: str) -> list[tuple[str, int]]:
    """The globs of a rule. An empty list is refused, because it could mean all or nothing."""
    if key not in rule.value:
        return []
    written, globs = rule.value[key], rule.get_words(key)
    if written is None or (isinstance(written, tuple) and (not globs or len(globs) < len(written))):
        rule.refuse(key, f"{quote(key)} of {rule.subject} is not a list of globs", "write at least one glob")
    return globs


# -- settings of tools -------------------------------------------------------------------------------------------------


def _read_settings(fields: FieldReader, allowed: set[str], *, is_json: bool) -> Iterator[list[ToolRule]]:
    """The rules of `toolsSettings` about parts of tools. `allowed` are the words that need no approval."""
    written = fields.value.get(_SETTINGS)
    if written is None:
        return
    if not isinstance(written, dict):
        fields.refuse(
            _SETTINGS, f"{quote(_SETTINGS)} of {fields.subject} is {describe(written)}, not a mapping"
        )
        return
    table = read_host_table()
    is_applied = is_json and _PERMISSIONS not in fields.value
    for word, settings in written.items():
        at = fields.marks[_SETTINGS][1][1][word]
        tool = word if word in table["settings"] else next(iter(table["names"].get(word, ())), "")
        if tool not in table["settings"]:
            continue  # a setting of another tool, such as the user of a server, limits nothing
        if not isinstance(settings, dict):
            fields.problems.append(
                DocumentProblem(
                    row.WRONG_TYPE,
                    at[0],
                    f"the settings of {quote(word)} are {describe(settings)}, not a mapping",
                )
            )
            continue
        own = FieldReader(settings, at[1], f"the settings of {quote(word)}")
        names = table["settings"][tool]
        parts = {key: own.get_words(names[key]) if names[key] else [] for key in ("allowed", "denied")}
        is_allowed = any(_covers(each, tool) for each in allowed)
        rules = list(_list_limits(own, tool, parts["denied"], parts["allowed"], is_allowed=is_allowed))
        fields.problems += own.problems
        limiting = [group for group in rules if any(each.effect != "allow" for each in group)]
        if limiting and not is_applied:
            text = f"{quote(_SETTINGS)} limits {quote(word)}, which only Kiro CLI 2 reads, and no agent of current versions"
            problem = DocumentProblem(
                row.EFFECTLESS_PERMISSION, at[0], text, f"write the limits as rules of {quote(_PERMISSIONS)}"
            )
            fields.problems.append(problem)
        elif is_applied:
            yield from rules


def _covers(word: str, tool: str) -> bool:
    """Whether a word of `allowedTools` stands for a built-in tool."""
    return word == BUILT_IN or fnmatchcase(tool, word) or tool in read_host_table()["names"].get(word, ())


def _list_limits(
    settings: FieldReader,
    tool: str,
    denied: list[tuple[str, int]],
    allowed: list[tuple[str, int]],
    *,
    is_allowed: bool,
) -> Iterator[list[ToolRule]]:
    """The rules of the settings of one tool."""
    parts = [ToolRule("allow", tool, mark, _convert_part(tool, part)) for part, mark in allowed]
    if tool == STARTER and "availableAgents" in settings.value:
        # Which agents it may start is limited, so those that are not named as trusted need an approval.
        settings.get_words("availableAgents")
        yield [ToolRule("ask", tool, settings.start("availableAgents")), *parts]
    elif tool == SHELL and settings.get_flag("denyByDefault") and not is_allowed:
        readonly = settings.get_flag("autoAllowReadonly")
        mark = settings.start("denyByDefault")
        more = [ToolRule("allow", tool, mark, "commands that only read")] if readonly else []
        yield [ToolRule("deny", tool, mark), *parts, *more]
    else:
        yield from ([each] for each in parts)
    yield from ([ToolRule("deny", tool, mark, _convert_part(tool, part))] for part, mark in denied)


def _convert_part(tool: str, part: str) -> str:
    """The glob for a part. Commands are regular expressions, of which the beginning of a command can be a glob.

    >>> _convert_part("shell", "git push .*"), _convert_part("shell", "rm.*"), _convert_part("write", "src/**")
    ('git push *', 'rm*', 'src/**')
    """
    beginning = _BEGINNING.match(part) if tool == SHELL else None
    return f"{beginning[1]}*" if beginning else part
