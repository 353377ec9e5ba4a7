"""A compiled organization as a host uses it: checks the bundle, and finds the role that takes a task (docs/http.md).

A bundle is one JSON document. `orgkernel host compile --agent-zero` makes it from a checked organization. It already
lists the role for each domain and the host tools that each role may call, so a host needs no YAML, no rules and no
access decision. `read_bundle` checks it completely before anything uses it.

Error policies: an invalid bundle raises `BundleError`. Dispatch passes through: an unknown word, or a domain that no
role takes, yields no role and a reason.

INVARIANT: only `read_bundle` makes the records. It checks shapes and references, so readers may rely on both.
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
    """Raised for a bundle that must not be used. `code` is stable, `where` is the route to the value, and `text`
    describes the problem.
    """

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
    """The permissions of one role for one tool when no circumstances are known."""

    level: str
    preferred: bool
    actions: Mapping[str, bool]
    """Every action of the tool, and whether it is allowed without approval."""
    ask: tuple[str, ...]
    """Actions that need approval. A host cannot ask for it, so they are not allowed."""
    conditional: str | None
    """The times, channels and paths that could change the answer, in words. None if nothing could."""
    scoped: tuple[str, ...]
    """Actions that are allowed on paths in the role's file scope."""


class BundleTool(NamedTuple):
    """A tool under the host's name for it."""

    tool: str
    """The tool's id in the catalog."""
    name: str
    roles: tuple[str, ...]
    """Roles that may use the tool."""
    essential: bool
    """Whether at least one role always has it."""
    path_arguments: tuple[str, ...]
    """The arguments that contain paths."""


class BundleRole(NamedTuple):
    """A role and its permissions."""

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
    """Permissions, keyed by tool id."""
    host_tools: frozenset[str]
    """Host names of the tools that the role may call, including essential ones."""
    essential: frozenset[str]
    """Tools among them that are always allowed."""
    pace: Mapping[str, Mapping[str, Any]]
    """Tier to its action, description, escalate_to, trigger (a checked tree or None) and text."""
    max_turns: int
    """Model calls without progress that the doctrine allows. Triggers call it `max`."""
    doctrine: Mapping[str, Any]
    file_scope: tuple[str, ...]
    """Globs of the files that the role may write. Empty means all files."""
    profile: Mapping[str, Any]
    """The role in the JSON form of the specification. Other extensions of the host read it."""


class BundleLimits(NamedTuple):
    """The limits of a run: the depth and width of hand-offs, and whether each hop narrows permissions."""

    max_spawn_depth: int = 3
    """The depth below the first agent at which no role hands work down. Deeper, only essential tools are left."""
    max_children: int = 5
    max_concurrent: int = 8
    strict: bool = False
    """Whether an agent may use only tools that all roles above it may use."""


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
    """The domain of each alias. None if the alias is listed as `unmapped`."""
    dispatch: Mapping[str, str | None]
    """The role that takes each domain."""
    roles: Mapping[str, BundleRole]
    """In the order of the hierarchy."""
    tools: Mapping[str, BundleTool]
    """Tools, keyed by the host's name."""
    signals: Mapping[str, Any]
    text_index: TextIndex | None = None
    """The weighted words of the roles, to find the role for a message. None in a bundle that was compiled without
    them."""
    limits: BundleLimits = BundleLimits()

    @property
    def org_id(self) -> str:
        """The id of the organization."""
        return str(self.organization["org_id"])

    @property
    def root(self) -> str | None:
        """The folder at which relative paths start, if the organization sets it."""
        root = self.organization.get("workspace_root")
        return root if isinstance(root, str) else None

    @property
    def document(self) -> Mapping[str, Any]:
        """The organization in the JSON form of the specification."""
        document: Mapping[str, Any] = self.organization["document"]
        return document


def format_route(*steps: str) -> str:
    """The route to a value, as messages print it: `roles/co/pace`."""
    return "/".join(step for step in steps if step)


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping in a bundle and the route to it. Every method raises `BundleError` for a value that does not fit."""

    data: Mapping[str, Any]
    where: str

    def build_error(self, key: str, text: str) -> BundleError:
        """Build the error for a value that cannot be used."""
        return BundleError("BUNDLE_MALFORMED", format_route(self.where, key), text)

    def get(self, key: str) -> Any:
        """A required value of any kind."""
        if key not in self.data:
            raise self.build_error(key, "is missing")
        return self.data[key]

    def get_text(self, key: str) -> str:
        """A string."""
        value = self.get(key)
        if not isinstance(value, str):
            raise self.build_error(key, "is not a string")
        return value

    def read_text_or_none(self, key: str) -> str | None:
        """A string or null."""
        return None if self.get(key) is None else self.get_text(key)

    def read_one_of(self, key: str, allowed: Collection[str]) -> str:
        """A string that is one of `allowed`."""
        value = self.get_text(key)
        if value not in allowed:
            raise self.build_error(key, f"`{value[:40]}` is not one of {', '.join(allowed)}")
        return value

    def get_flag(self, key: str) -> bool:
        """A boolean."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise self.build_error(key, "is neither true nor false")
        return value

    def get_count(self, key: str) -> int:
        """A whole number of at least 1."""
        value = self.get(key)
        if type(value) is not int or value < 1:
            raise self.build_error(key, "is not a whole number above zero")
        return value

    def get_texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.build_error(key, "is not a list of strings")
        return tuple(value)

    def read_texts_if_any(self, key: str) -> tuple[str, ...]:
        """A list of strings. Empty in a bundle that was compiled by a version without the field."""
        return self.get_texts(key) if key in self.data else ()

    def get_mapping(self, key: str) -> Mapping[str, Any]:
        """A mapping with string keys. JSON has no other keys, but data from other callers can."""
        value = self.get(key)
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self.build_error(key, "is not a mapping")
        return value

    def each(self, key: str) -> Iterator[tuple[str, Fields]]:
        """The mappings in a mapping, by name."""
        inner = Fields(self.get_mapping(key), format_route(self.where, key))
        for name in inner.data:
            yield name, Fields(inner.get_mapping(name), format_route(inner.where, name))

    def read_flags_by_name(self, key: str) -> Mapping[str, bool]:
        """A mapping of booleans."""
        inner = Fields(self.get_mapping(key), format_route(self.where, key))
        return {name: inner.get_flag(name) for name in inner.data}

    def read_texts_by_name(self, key: str) -> Mapping[str, str | None]:
        """A mapping whose values are strings or null."""
        inner = Fields(self.get_mapping(key), format_route(self.where, key))
        return {name: inner.read_text_or_none(name) for name in inner.data}


_LEVELS: Final = ("none", "observe", "read", "write", "full")


class RoleChoice(NamedTuple):
    """The role that takes a task, or None, with the reason."""

    role: BundleRole | None
    domain: str | None
    """The domain that the word stands for in this organization."""
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
    """The checksum of a bundle's content without its `checksum` field. Formatting does not affect it."""
    content = {key: value for key, value in data.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def read_bundle(data: object) -> Bundle:
    """Read the bundle in decoded JSON.

    Unknown fields are ignored. Raises `BundleError` with one of these codes: `NOT_A_BUNDLE`, `BUNDLE_TOO_NEW` (another
    major version), `BUNDLE_MALFORMED` (with the route to the value), `BUNDLE_CHANGED` (the checksum does not match).
    """
    if not isinstance(data, dict) or data.get("_schema") != SCHEMA:
        raise BundleError(
            "NOT_A_BUNDLE", "", f"this is not a compiled organization: `_schema` is not `{SCHEMA}`"
        )
    top = Fields(data, "")
    _check_version(top.get_text("_version"))
    try:
        stated_checksum, actual_checksum = top.get_text("checksum"), compute_checksum_of(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise BundleError("BUNDLE_MALFORMED", "", "it contains a value that JSON cannot represent") from error
    if stated_checksum != actual_checksum:
        text = f"the bundle was changed after it was compiled: its checksum is {actual_checksum[:19]}…, not {stated_checksum[:19]}…"
        raise BundleError("BUNDLE_CHANGED", "checksum", text)
    organization = top.get_mapping("organization")
    Fields(organization, "organization").get_text("org_id")
    Fields(organization, "organization").get_mapping("document")
    bundle = Bundle(
        top.get_text("digest"), stated_checksum, top.get_text("compiled_by"), organization,
        {name: _read_domain(fields) for name, fields in top.each("domains")},
        top.read_texts_by_name("aliases"),
        top.read_texts_by_name("dispatch"),
        {name: _read_role(fields) for name, fields in top.each("roles")},
        {name: _read_tool(fields) for name, fields in top.each("tools")},
        top.get_mapping("signals"),
        _read_text_index(top),
        _read_limits(top),
    )  # fmt: skip
    _check_references(bundle)
    return bundle


def _read_text_index(top: Fields) -> TextIndex | None:
    if "text_index" not in top.data:
        return None
    try:
        index = read_index(top.get_mapping("text_index"))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise top.build_error("text_index", f"cannot be used: {str(error)[:80]}") from error
    for role_id in index.roles:
        if role_id not in top.get_mapping("roles"):
            raise top.build_error("text_index", _say_unknown_role(role_id))
    return index


def _read_limits(top: Fields) -> BundleLimits:
    """The limits. A bundle compiled by a version without limits gets the defaults of an organization."""
    if "limits" not in top.data:
        return BundleLimits()
    fields = Fields(top.get_mapping("limits"), "limits")
    return BundleLimits(
        fields.get_count("max_spawn_depth"),
        fields.get_count("max_children"),
        fields.get_count("max_concurrent"),
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
        fields.get_texts("aliases"), fields.get_texts("broader"), fields.get_flag("passthrough"),
        fields.get_texts("examples"), fields.get_texts("triggers"),
    )  # fmt: skip


def _read_tool(fields: Fields) -> BundleTool:
    return BundleTool(
        fields.get_text("tool"),
        fields.get_text("name"),
        fields.get_texts("roles"),
        fields.get_flag("essential"),
        fields.read_texts_if_any("path_arguments"),
    )


def _read_grant(fields: Fields) -> ToolGrant:
    return ToolGrant(
        fields.read_one_of("level", _LEVELS), fields.get_flag("preferred"), fields.read_flags_by_name("actions"),
        fields.get_texts("ask"), fields.read_text_or_none("conditional"), fields.read_texts_if_any("scoped"),
    )  # fmt: skip


def _read_role(fields: Fields) -> BundleRole:
    host_tools, essential = (
        frozenset(fields.get_texts("host_tools")),
        frozenset(fields.get_texts("essential")),
    )
    if not essential <= host_tools:
        raise fields.build_error("essential", "names a tool that is not among `host_tools`")
    return BundleRole(
        fields.get_text("role_id"), fields.get_text("role_name"), fields.get_text("role_type"), fields.get_text("description"),
        fields.get_text("brief"), fields.read_text_or_none("reports_to"), fields.get_texts("chain"), fields.get_texts("subordinates"),
        fields.get_flag("can_delegate"), fields.get_texts("delegates_to"), fields.get_texts("domains"), fields.get_texts("plans"),
        {name: _read_grant(grant) for name, grant in fields.each("tools")},
        host_tools, essential,
        {name: _read_tier(name, tier) for name, tier in fields.each("pace")},
        fields.get_count("max_turns"), fields.get_mapping("doctrine"), fields.read_texts_if_any("file_scope"), fields.get_mapping("profile"),
    )  # fmt: skip


def _read_tier(name: str, fields: Fields) -> Mapping[str, Any]:
    if name not in TIERS:
        raise BundleError("BUNDLE_MALFORMED", fields.where, f"`{name[:40]}` is not a PACE tier")
    for key in ("action", "description", "text"):
        fields.get_text(key)
    fields.read_text_or_none("escalate_to")
    tree = fields.get("trigger")
    if tree is not None:
        try:
            check_tree(tree)
        except TriggerTreeError as error:
            raise fields.build_error("trigger", str(error)) from error
    return fields.data


def _check_references(bundle: Bundle) -> None:
    """Check that every role that the bundle names is in it: hosts look them up without checking."""
    for key, role in bundle.roles.items():
        if role.role_id != key:
            raise BundleError(
                "BUNDLE_MALFORMED", format_route("roles", key, "role_id"), f"differs from its key `{key}`"
            )
        _check_known(role.delegates_to, bundle.roles, format_route("roles", key, "delegates_to"))
        _check_known(role.subordinates, bundle.roles, format_route("roles", key, "subordinates"))
    for domain, taker in bundle.dispatch.items():
        _check_known((taker,) if taker is not None else (), bundle.roles, format_route("dispatch", domain))
    for name, tool in bundle.tools.items():
        _check_known(tool.roles, bundle.roles, format_route("tools", name, "roles"))


def _say_unknown_role(role_id: str) -> str:
    return f"names role `{role_id[:60]}`, which is not among `roles`"


def _check_known(names: tuple[str, ...], roles: Mapping[str, BundleRole], where: str) -> None:
    for name in names:
        if name not in roles:
            raise BundleError("BUNDLE_MALFORMED", where, _say_unknown_role(name))
