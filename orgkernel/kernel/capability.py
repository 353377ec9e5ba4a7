"""Questions about the handling of intents, with the current state and time."""

from __future__ import annotations

import base64
import mimetypes
from typing import Literal

import msgspec

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.work.capability.handling import (
    FAILABLE,
    HandlingDecision,
    HandlingRequest,
    decide_handling,
)
from orgkernel.decisions.work.capability.orders import StandingOrders, compose_orders
from orgkernel.decisions.work.capability.proposals import Proposals, decide_proposals
from orgkernel.decisions.work.capability.skills import (
    DisclosureOutcome,
    SkillActivation,
    SkillList,
    activate_skill,
    get_skills,
    list_skills,
)
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.clock import add_current_time
from orgkernel.loading.skill_files import FileRefused, list_files, read_file

_CODES = {
    "unknown": "SKILL_FILE_UNKNOWN",
    "unsafe": "SKILL_FILE_UNSAFE",
    "too_large": "SKILL_FILE_TOO_LARGE",
}


class SkillFile(msgspec.Struct, frozen=True):
    """A file next to a skill."""

    path: str
    size: int


class SkillDisclosed(msgspec.Struct, frozen=True):
    """An activated skill, with the current files next to it."""

    activation: SkillActivation
    resources: tuple[SkillFile, ...]


class SkillResource(msgspec.Struct, frozen=True):
    """One file next to a skill, with its current content."""

    outcome: DisclosureOutcome
    subject: str
    name: str
    path: str
    reasons: tuple[Reason, ...]
    media_type: str
    encoding: Literal["utf-8", "base64", ""]
    content: str
    size: int
    sha256: str


def ask_orders(org_access: OrganizationAccess, role: str) -> StandingOrders:
    """The standing orders of a role."""
    return compose_orders(org_access.view, role)


def ask_skills(org_access: OrganizationAccess, subject: str) -> SkillList:
    """The skills that a subject sees."""
    return list_skills(org_access.view, org_access.state, subject, org_access.build_current_context())


def ask_skill(org_access: OrganizationAccess, subject: str, name: str) -> SkillDisclosed:
    """A skill, if a subject may activate it."""
    activation = activate_skill(
        org_access.view, org_access.state, subject, name, org_access.build_current_context()
    )
    files = list_files(get_skills(org_access.view)[name].definition.document.path) if activation.card else ()
    return SkillDisclosed(activation, tuple(SkillFile(*each) for each in files))


def ask_resource(org_access: OrganizationAccess, subject: str, name: str, path: str) -> SkillResource:
    """A file next to a skill, if a subject may activate the skill."""
    activation = activate_skill(
        org_access.view, org_access.state, subject, name, org_access.build_current_context()
    )
    if activation.card is None:
        return SkillResource("deny", subject, name, path, activation.reasons, "", "", "", 0, "")
    try:
        file = read_file(get_skills(org_access.view)[name].definition.document.path, path)
    except FileRefused as refused:
        reason = Reason(_CODES[refused.why], f"{quote(path)} of skill {quote(name)}: {refused.text}")
        return SkillResource("deny", subject, name, path, (reason,), "", "", "", 0, "")
    encoding: Literal["utf-8", "base64"] = "utf-8"
    try:
        content = file.content.decode()
    except UnicodeDecodeError:
        encoding, content = "base64", base64.b64encode(file.content).decode()
    media_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return SkillResource(
        "allow", subject, name, path, activation.reasons, media_type, encoding, content, len(file.content),
        file.sha256,
    )  # fmt: skip


def ask_handling(org_access: OrganizationAccess, request: HandlingRequest) -> HandlingDecision:
    """The means by which a subject handles an intent. Raises `UsageError` for an invalid entry in `failed`."""
    for way in request.failed:
        tier, _, name = way.partition(":")
        if tier not in FAILABLE or (tier == "reasoning") != (not name):
            raise UsageError(
                f"{quote(way)} cannot be reported as failed",
                f"write `reasoning`, or `TIER:NAME` with one of {listing(FAILABLE[:3])}",
            )
    timed = add_current_time(AccessRequest(request.subject, "", "", request.context), org_access.clock)
    return decide_handling(
        org_access.view, org_access.state, msgspec.structs.replace(request, context=timed.context)
    )


def ask_proposals(org_access: OrganizationAccess) -> Proposals:
    """The skills that are proposed as procedures."""
    return decide_proposals(org_access.view, org_access.state)
