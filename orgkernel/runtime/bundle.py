"""What a host asks of a compiled organization: can it be used, and which role takes a task (docs/http.md)?

A bundle is one JSON document. `orgkernel host compile --agent-zero` makes it from a checked organization. It already says who
takes which domain and which of the host's tools a role may call, so a host needs no YAML, no rules and no access
decision. `read_bundle` checks it completely before anything uses it.

Error policies: an invalid bundle raises `BundleError`. Dispatch passes through: a word that means nothing here, or a
domain that no role takes, yields no role and a reason.

INVARIANT: only `read_bundle` makes the records. It checks shapes and references, so that readers may rely on both.
Mappings inside are plain JSON that all readers of the bundle share: do not change them.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from . import refusals
from .text_index import TextIndex, read_index
from .tiers import TIERS
from .triggers import TriggerTreeError, check_tree

SCHEMA: Final = "orgkernel:agent_zero_bundle"
VERSION: Final = "1.0"


class BundleError(ValueError):
    """A bundle that must not be used. `code` is stable, `where` is the route to the value, `text` says what is wrong."""

    def __init__(self, code: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}" if where else text)
        self.code = code
        self.where = where
        self.text = text


class BundleDomain(NamedTuple):
    """A task domain with the texts that classify a message."""

    aliases: tuple[str, ...]
    broader: tuple[str, ...]
    """Broader domains, nearest first."""
    passthrough: bool
    examples: tuple[str, ...]
    triggers: tuple[str, ...]


class ToolGrant(NamedTuple):
    """What one role may do with one tool when no circumstances are known."""

    level: str
    preferred: bool
    actions: Mapping[str, bool]
    """Every action of the tool, and whether it is allowed without approval."""
    ask: tuple[str, ...]
    """Actions that need approval. A host cannot ask for it, so they are not allowed."""
    conditional: str | None
    """The times, channels and paths that could change it, in words. None if nothing could."""
    scoped: tuple[str, ...]
    """Actions that are allowed on paths in the role's file scope."""


class BundleTool(NamedTuple):
    """A tool under the host's name for it."""

    tool: str
    """The tool's id in the catalog."""
    name: str
    roles: tuple[str, ...]
    """Roles that may use it."""
    essential: bool
    """Whether at least one role always has it."""
    path_arguments: tuple[str, ...]
    """The arguments that hold paths."""


class BundleRole(NamedTuple):
    """A role and what the decisions allow it."""

    role_id: str
    role_name: str
    role_type: str
    description: str
    brief: str
    """The text about the role in its prompt."""
    reports_to: str | None
    chain: tuple[str, ...]
    """All superiors, nearest first. The last may be outside the organization."""
    subordinates: tuple[str, ...]
    can_delegate: bool
    delegates_to: tuple[str, ...]
    domains: tuple[str, ...]
    plans: tuple[str, ...]
    tools: Mapping[str, ToolGrant]
    """By tool id."""
    host_tools: frozenset[str]
    """Host names of the tools that it may call, essential ones included."""
    essential: frozenset[str]
    """Tools among them that are never taken away."""
    pace: Mapping[str, Mapping[str, Any]]
    """For each tier: action, description, escalate_to, trigger (a checked tree or None) and text."""
    max_turns: int
    """Model calls without progress that the doctrine allows. Triggers call it `max`."""
    doctrine: Mapping[str, Any]
    file_scope: tuple[str, ...]
    """Where it may write. Empty means anywhere."""
    profile: Mapping[str, Any]
    """The role in the JSON form of the specification. Neighbor layers read it."""


class BundleLimits(NamedTuple):
    """The limits of a run: how far and to how many agents work is handed on, and whether each hop narrows it."""

    max_spawn_depth: int = 3
    """The depth below the first agent at which no role hands work down. Deeper, only essential tools are left."""
    max_children: int = 5
    max_concurrent: int = 8
    strict: bool = False
    """Whether an agent may use only what all roles above it may use, too."""


class Bundle(NamedTuple):
    """One compiled organization."""

    digest: str
    """Digest of the documents that it was compiled from."""
    checksum: str
    """Checksum of the bundle itself."""
    compiled_by: str
    organization: Mapping[str, Any]
    domains: Mapping[str, BundleDomain]
    aliases: Mapping[str, str | None]
    """Each alias and the domain that it means. None if it is listed as `unmapped`."""
    dispatch: Mapping[str, str | None]
    """Each domain and the role that takes it."""
    roles: Mapping[str, BundleRole]
    """In the order of the hierarchy."""
    tools: Mapping[str, BundleTool]
    """By the host's name for the tool."""
    signals: Mapping[str, Any]
    text_index: TextIndex | None = None
    """The words of the roles, weighed, to find the role for a message. None in a bundle that was compiled without them."""
    limits: BundleLimits = BundleLimits()

    @property
    def org_id(self) -> str:
        """The id of the organization."""
        return str(self.organization["org_id"])

    @property
    def root(self) -> str | None:
        """Where relative paths start, if the organization says so."""
        root = self.organization.get("workspace_root")
        return root if isinstance(root, str) else None

    @property
    def document(self) -> Mapping[str, Any]:
        """The organization in the JSON form of the specification."""
        document: Mapping[str, Any] = self.organization["document"]
        return document


def at(*steps: str) -> str:
    """The route to a value, as messages print it: `roles/co/pace`."""
    return "/".join(step for step in steps if step)


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping in a bundle and the route to it. Every reader raises `BundleError` for a value that does not fit."""

    data: Mapping[str, Any]
    where: str

    def wrong(self, key: str, text: str) -> BundleError:
        """The error to raise for a value that cannot be used."""
        return BundleError("BUNDLE_MALFORMED", at(self.where, key), text)

    def get(self, key: str) -> Any:
        """A required value of any kind."""
        if key not in self.data:
            raise self.wrong(key, "is missing")
        return self.data[key]

    def text(self, key: str) -> str:
        """A text."""
        value = self.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not text")
        return value

    def read_text_or_none(self, key: str) -> str | None:
        """A text or null."""
        return None if self.get(key) is None else self.text(key)

    def read_one_of(self, key: str, allowed: Collection[str]) -> str:
        """A text that is one of `allowed`."""
        value = self.text(key)
        if value not in allowed:
            raise self.wrong(key, f"`{value[:40]}` is not one of {', '.join(allowed)}")
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "is neither true nor false")
        return value

    def whole(self, key: str) -> int:
        """A whole number of at least 1."""
        value = self.get(key)
        if type(value) is not int or value < 1:
            raise self.wrong(key, "is not a whole number above zero")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, "is not a list of texts")
        return tuple(value)

    def read_texts_if_any(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty in a bundle that was compiled before there was one."""
        return self.texts(key) if key in self.data else ()

    def mapping(self, key: str) -> Mapping[str, Any]:
        """A mapping with text keys. JSON has no others, but data from other callers may."""
        value = self.get(key)
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self.wrong(key, "is not a mapping")
        return value

    def each(self, key: str) -> Iterator[tuple[str, Fields]]:
        """The mappings in a mapping, by name."""
        inner = Fields(self.mapping(key), at(self.where, key))
        for name in inner.data:
            yield name, Fields(inner.mapping(name), at(inner.where, name))

    def read_flags_by_name(self, key: str) -> Mapping[str, bool]:
        """A mapping of true and false."""
        inner = Fields(self.mapping(key), at(self.where, key))
        return {name: inner.flag(name) for name in inner.data}

    def read_texts_by_name(self, key: str) -> Mapping[str, str | None]:
        """A mapping whose values are texts or null."""
        inner = Fields(self.mapping(key), at(self.where, key))
        return {name: inner.read_text_or_none(name) for name in inner.data}


_LEVELS: Final = ("none", "observe", "read", "write", "full")


class RoleChoice(NamedTuple):
    """The role that takes a task, or None, and why."""

    role: BundleRole | None
    domain: str | None
    """The domain that the word means in this organization."""
    reason: str


def find_role(bundle: Bundle, word: str) -> RoleChoice:
    """The role that takes tasks of a domain. `word` is a domain or an alias of one.

    Law: the same role and domain as `decide_dispatch` on the documents the bundle was compiled from.
    """
    domain: str | None = word
    if word not in bundle.domains:
        if word not in bundle.aliases:
            return RoleChoice(None, None, refusals.say_unknown_domain(f"`{word}`"))
        domain = bundle.aliases[word]
        if domain is None:
            return RoleChoice(None, None, refusals.say_unmapped_alias(f"`{word}`"))
    meaning = f"`{word}` means domain `{domain}`, and " if domain != word else ""
    role_id = bundle.dispatch.get(domain or "")
    if role_id is None:
        return RoleChoice(None, domain, meaning + refusals.say_unhandled_domain(f"`{domain}`"))
    return RoleChoice(bundle.roles[role_id], domain, f"{meaning}role `{role_id}` takes domain `{domain}`")


def compute_checksum_of(data: Mapping[str, Any]) -> str:
    """The checksum of a bundle's content without its `checksum` field. Formatting does not matter."""
    content = {key: value for key, value in data.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def read_bundle(data: object) -> Bundle:
    """The bundle in decoded JSON.

    Unknown fields are ignored. Raises `BundleError` with one of these codes: `NOT_A_BUNDLE`, `BUNDLE_TOO_NEW` (another
    major version), `BUNDLE_MALFORMED` (with the route to the value), `BUNDLE_CHANGED` (the checksum does not match).
    """
    if not isinstance(data, dict) or data.get("_schema") != SCHEMA:
        raise BundleError(
            "NOT_A_BUNDLE", "", f"this is not a compiled organization: `_schema` is not `{SCHEMA}`"
        )
    top = Fields(data, "")
    _check_version(top.text("_version"))
    try:
        stated_checksum, actual_checksum = top.text("checksum"), compute_checksum_of(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise BundleError("BUNDLE_MALFORMED", "", "it holds a value that JSON cannot represent") from error
    if stated_checksum != actual_checksum:
        text = f"the bundle was changed after it was compiled: its checksum is {actual_checksum[:19]}…, not {stated_checksum[:19]}…"
        raise BundleError("BUNDLE_CHANGED", "checksum", text)
    organization = top.mapping("organization")
    Fields(organization, "organization").text("org_id")
    Fields(organization, "organization").mapping("document")
    bundle = Bundle(
        top.text("digest"), stated_checksum, top.text("compiled_by"), organization,
        {name: _read_domain(fields) for name, fields in top.each("domains")},
        top.read_texts_by_name("aliases"),
        top.read_texts_by_name("dispatch"),
        {name: _read_role(fields) for name, fields in top.each("roles")},
        {name: _read_tool(fields) for name, fields in top.each("tools")},
        top.mapping("signals"),
        _read_text_index(top),
        _read_limits(top),
    )  # fmt: skip
    _check_references(bundle)
    return bundle


def _read_text_index(top: Fields) -> TextIndex | None:
    if "text_index" not in top.data:
        return None
    try:
        index = read_index(top.mapping("text_index"))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise top.wrong("text_index", f"cannot be used: {str(error)[:80]}") from error
    for role_id in index.roles:
        if role_id not in top.mapping("roles"):
            raise top.wrong("text_index", _say_unknown_role(role_id))
    return index


def _read_limits(top: Fields) -> BundleLimits:
    """The limits; those of an organization that states none, in a bundle that was compiled before there were any."""
    if "limits" not in top.data:
        return BundleLimits()
    fields = Fields(top.mapping("limits"), "limits")
    return BundleLimits(
        fields.whole("max_spawn_depth"),
        fields.whole("max_children"),
        fields.whole("max_concurrent"),
        fields.read_one_of("delegation", ("envelope", "strict")) == "strict",
    )


def _check_version(version: str) -> None:
    major, dot, minor = version.partition(".")
    if not (dot and major.isascii() and major.isdigit() and minor.isascii() and minor.isdigit()):
        raise BundleError(
            "BUNDLE_MALFORMED", "_version", f"`{version[:20]}` is not a version such as {VERSION}"
        )
    if int(major) != int(VERSION.partition(".")[0]):
        text = f"this runtime reads version {VERSION}, not {version}; compile again, or upgrade the extension"
        raise BundleError("BUNDLE_TOO_NEW", "_version", text)


def _read_domain(fields: Fields) -> BundleDomain:
    return BundleDomain(
        fields.texts("aliases"), fields.texts("broader"), fields.flag("passthrough"),
        fields.texts("examples"), fields.texts("triggers"),
    )  # fmt: skip


def _read_tool(fields: Fields) -> BundleTool:
    return BundleTool(
        fields.text("tool"),
        fields.text("name"),
        fields.texts("roles"),
        fields.flag("essential"),
        fields.read_texts_if_any("path_arguments"),
    )


def _grant(fields: Fields) -> ToolGrant:
    return ToolGrant(
        fields.read_one_of("level", _LEVELS), fields.flag("preferred"), fields.read_flags_by_name("actions"),
        fields.texts("ask"), fields.read_text_or_none("conditional"), fields.read_texts_if_any("scoped"),
    )  # fmt: skip


def _read_role(fields: Fields) -> BundleRole:
    host_tools, essential = frozenset(fields.texts("host_tools")), frozenset(fields.texts("essential"))
    if not essential <= host_tools:
        raise fields.wrong("essential", "names a tool that is not among `host_tools`")
    return BundleRole(
        fields.text("role_id"), fields.text("role_name"), fields.text("role_type"), fields.text("description"),
        fields.text("brief"), fields.read_text_or_none("reports_to"), fields.texts("chain"), fields.texts("subordinates"),
        fields.flag("can_delegate"), fields.texts("delegates_to"), fields.texts("domains"), fields.texts("plans"),
        {name: _grant(grant) for name, grant in fields.each("tools")},
        host_tools, essential,
        {name: _read_tier(name, tier) for name, tier in fields.each("pace")},
        fields.whole("max_turns"), fields.mapping("doctrine"), fields.read_texts_if_any("file_scope"), fields.mapping("profile"),
    )  # fmt: skip


def _read_tier(name: str, fields: Fields) -> Mapping[str, Any]:
    if name not in TIERS:
        raise BundleError("BUNDLE_MALFORMED", fields.where, f"`{name[:40]}` is not a PACE tier")
    for key in ("action", "description", "text"):
        fields.text(key)
    fields.read_text_or_none("escalate_to")
    tree = fields.get("trigger")
    if tree is not None:
        try:
            check_tree(tree)
        except TriggerTreeError as error:
            raise fields.wrong("trigger", str(error)) from error
    return fields.data


def _check_references(bundle: Bundle) -> None:
    """Check that every role that the bundle names is in it: hosts look them up without checking."""
    for key, role in bundle.roles.items():
        if role.role_id != key:
            raise BundleError(
                "BUNDLE_MALFORMED", at("roles", key, "role_id"), f"differs from its key `{key}`"
            )
        _check_known(role.delegates_to, bundle.roles, at("roles", key, "delegates_to"))
        _check_known(role.subordinates, bundle.roles, at("roles", key, "subordinates"))
    for domain, taker in bundle.dispatch.items():
        _check_known((taker,) if taker is not None else (), bundle.roles, at("dispatch", domain))
    for name, tool in bundle.tools.items():
        _check_known(tool.roles, bundle.roles, at("tools", name, "roles"))


def _say_unknown_role(role_id: str) -> str:
    return f"names role `{role_id[:60]}`, which is not among `roles`"


def _check_known(names: tuple[str, ...], roles: Mapping[str, BundleRole], where: str) -> None:
    for name in names:
        if name not in roles:
            raise BundleError("BUNDLE_MALFORMED", where, _say_unknown_role(name))
