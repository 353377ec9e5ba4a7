"""The text that tells a role about itself: short, in the second person, only what changes how it works.

The brief is in the prompt of every model call of the role, so each sentence must be worth its tokens. It uses the host's
names for tools and aims at about 150 words; long lists are cut after a few items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orgkernel.manifest.v1 import RoleManifest
from orgkernel.records.organization import USER

MOST_LISTED = 6


def render_brief(manifest: RoleManifest, host_tools: Sequence[str], delegates_to: Sequence[str]) -> str:
    """The brief of a role; `host_tools` in order of preference, `delegates_to` role ids."""
    return "\n".join(sentence for sentence in _sentences(manifest, host_tools, delegates_to) if sentence)


def _sentences(
    manifest: RoleManifest, host_tools: Sequence[str], delegates_to: Sequence[str]
) -> Iterable[str]:
    yield f"You are the {manifest.role_name} ({manifest.role_id}) of {manifest.org_name}."
    yield _stop(manifest.description)
    yield f"You report to {_superior(manifest)}."
    if manifest.domains:
        yield f"You handle: {_listed(domain.id for domain in manifest.domains)}."
    if manifest.plans:
        yield f"Your plans: {_listed(plan.id for plan in manifest.plans)}."
    yield f"Your tools: {', '.join(host_tools)}. You may not use other tools."
    if delegates_to:
        yield f"You may delegate to: {_listed(delegates_to)}."
    if manifest.does_not_have:
        yield f"You do not have: {' '.join(_stop(item.id) for item in manifest.does_not_have[:MOST_LISTED])}"
    yield from (_stop(item.id) for item in manifest.standing_orders[:MOST_LISTED])
    yield _way_out(manifest, delegates_to)


def _superior(manifest: RoleManifest) -> str:
    """The superior's name in a sentence. A superior outside the organization has only an id."""
    above = manifest.chain_of_command[0] if manifest.chain_of_command else None
    if above is None or above.id == USER:
        return "the user"
    return above.id if above.name == above.id else f"{above.name} ({above.id})"


def _way_out(manifest: RoleManifest, delegates_to: Sequence[str]) -> str:
    """What the role should do with work that it cannot do."""
    hand_on = "delegate it to a subordinate or " if delegates_to else ""
    return (
        f"If you cannot do something or lack a tool for it, {hand_on}answer with `response`: say what is missing, "
        f"what you tried and that {_superior(manifest)} should take over. Do not work around it."
    )


def _listed(names: Iterable[str]) -> str:
    """A few names and a count of the rest."""
    every = list(names)
    rest = len(every) - MOST_LISTED
    return ", ".join(every[:MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _stop(text: str) -> str:
    """A text on one line with a final stop."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?" else f"{text}."
