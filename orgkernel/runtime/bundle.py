"""What a host asks of a compiled organization: can it be used, and which role takes a task (design §10)?

A bundle is one JSON document. `orgkernel compile --agent-zero` makes it from a checked organization. It already says who
takes which domain and which of the host's tools a role may call, so a host needs no YAML, no rules and no access
decision. `read_bundle` checks it completely before anything uses it.

Error policies: an invalid bundle raises `BundleError`. Dispatch passes through: a word that means nothing here, or a
domain that no role takes, yields no role and a reason.

Standard library only: this module also runs inside hosts.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .bundle_fields import Fields, at
from .bundle_records import (
    SCHEMA,
    VERSION,
    Bundle,
    BundleDomain,
    BundleError,
    BundleRole,
    BundleTool,
    ToolGrant,
)
from .tiers import TIERS
from .trigger_tree import TriggerTreeError, check_tree

__all__ = [
    "SCHEMA",
    "VERSION",
    "Bundle",
    "BundleDomain",
    "BundleError",
    "BundleRole",
    "BundleTool",
    "RoleChoice",
    "ToolGrant",
    "checksum_of",
    "find_role",
    "read_bundle",
]

_LEVELS: Final = ("none", "observe", "read", "write", "full")


@dataclass(frozen=True, slots=True)
class RoleChoice:
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
            return RoleChoice(None, None, f"no catalog declares domain `{word}`")
        domain = bundle.aliases[word]
        if domain is None:
            return RoleChoice(None, None, f"`{word}` is an alias that means no domain here")
    meaning = f"`{word}` means domain `{domain}`, and " if domain != word else ""
    role_id = bundle.dispatch.get(domain or "")
    if role_id is None:
        return RoleChoice(None, domain, f"{meaning}no role handles domain `{domain}`")
    return RoleChoice(bundle.roles[role_id], domain, f"{meaning}role `{role_id}` takes domain `{domain}`")


def checksum_of(data: Mapping[str, Any]) -> str:
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
        said, found = top.text("checksum"), checksum_of(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise BundleError("BUNDLE_MALFORMED", "", "it holds a value that JSON cannot represent") from error
    if said != found:
        text = (
            f"the bundle was changed after it was compiled: its checksum is {found[:19]}…, not {said[:19]}…"
        )
        raise BundleError("BUNDLE_CHANGED", "checksum", text)
    organization = top.mapping("organization")
    Fields(organization, "organization").text("org_id")
    Fields(organization, "organization").mapping("document")
    bundle = Bundle(
        top.text("digest"), said, top.text("compiled_by"), organization,
        {name: _domain(fields) for name, fields in top.each("domains")},
        top.texts_by_name("aliases"),
        top.texts_by_name("dispatch"),
        {name: _role(fields) for name, fields in top.each("roles")},
        {name: _tool(fields) for name, fields in top.each("tools")},
        top.mapping("signals"),
    )  # fmt: skip
    _check_references(bundle)
    return bundle


def _check_version(version: str) -> None:
    major, dot, minor = version.partition(".")
    if not (dot and major.isascii() and major.isdigit() and minor.isascii() and minor.isdigit()):
        raise BundleError(
            "BUNDLE_MALFORMED", "_version", f"`{version[:20]}` is not a version such as {VERSION}"
        )
    if int(major) != int(VERSION.partition(".")[0]):
        text = f"this runtime reads version {VERSION}, not {version}; compile again, or upgrade the extension"
        raise BundleError("BUNDLE_TOO_NEW", "_version", text)


def _domain(fields: Fields) -> BundleDomain:
    return BundleDomain(
        fields.texts("aliases"), fields.texts("broader"), fields.flag("passthrough"),
        fields.texts("examples"), fields.texts("triggers"),
    )  # fmt: skip


def _tool(fields: Fields) -> BundleTool:
    return BundleTool(
        fields.text("tool"), fields.text("name"), fields.texts("roles"), fields.flag("essential")
    )


def _grant(fields: Fields) -> ToolGrant:
    return ToolGrant(
        fields.one_of("level", _LEVELS), fields.flag("preferred"), fields.flags_by_name("actions"),
        fields.texts("ask"), fields.text_or_none("conditional"),
    )  # fmt: skip


def _role(fields: Fields) -> BundleRole:
    host_tools, essential = frozenset(fields.texts("host_tools")), frozenset(fields.texts("essential"))
    if not essential <= host_tools:
        raise fields.wrong("essential", "names a tool that is not among `host_tools`")
    return BundleRole(
        fields.text("role_id"), fields.text("role_name"), fields.text("role_type"), fields.text("description"),
        fields.text("brief"), fields.text_or_none("reports_to"), fields.texts("chain"), fields.texts("subordinates"),
        fields.flag("can_delegate"), fields.texts("delegates_to"), fields.texts("domains"), fields.texts("plans"),
        {name: _grant(grant) for name, grant in fields.each("tools")},
        host_tools, essential,
        {name: _tier(name, tier) for name, tier in fields.each("pace")},
        fields.whole("max_turns"), fields.mapping("doctrine"), fields.mapping("profile"),
    )  # fmt: skip


def _tier(name: str, fields: Fields) -> Mapping[str, Any]:
    if name not in TIERS:
        raise BundleError("BUNDLE_MALFORMED", fields.where, f"`{name[:40]}` is not a PACE tier")
    for key in ("action", "description", "text"):
        fields.text(key)
    fields.text_or_none("escalate_to")
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


def _check_known(names: tuple[str, ...], roles: Mapping[str, BundleRole], where: str) -> None:
    for name in names:
        if name not in roles:
            raise BundleError(
                "BUNDLE_MALFORMED", where, f"names role `{name[:60]}`, which is not among `roles`"
            )
