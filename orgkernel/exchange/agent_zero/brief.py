"""What a role is told about itself: short, in the second person, and only what changes how it works.

A brief goes into the prompt of every model call of the role, so each sentence has to be worth its tokens; tools are
named as the host calls them. About 150 words are aimed at: what is long in the documents is cut at whole items.
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
        yield f"You take: {_listed(domain.id for domain in manifest.domains)}."
    if manifest.plans:
        yield f"Your plans: {_listed(plan.id for plan in manifest.plans)}."
    yield f"Your tools: {', '.join(host_tools)}. Other tools are not yours."
    if delegates_to:
        yield f"You may hand work to: {_listed(delegates_to)}."
    if manifest.does_not_have:
        yield f"You do not have: {' '.join(_stop(item.id) for item in manifest.does_not_have[:MOST_LISTED])}"
    yield from (_stop(item.id) for item in manifest.standing_orders[:MOST_LISTED])
    yield _way_out(manifest, delegates_to)


def _superior(manifest: RoleManifest) -> str:
    """Who stands above, as a sentence calls it; somebody outside the organization has no name but an id."""
    above = manifest.chain_of_command[0] if manifest.chain_of_command else None
    if above is None or above.id == USER:
        return "the user"
    return above.id if above.name == above.id else f"{above.name} ({above.id})"


def _way_out(manifest: RoleManifest, delegates_to: Sequence[str]) -> str:
    """What to do with what the role cannot do: the way that is open to it."""
    hand_on = "hand it to a subordinate, or " if delegates_to else ""
    return (
        f"What you cannot do or have no tool for: {hand_on}answer with `response`, saying what is missing, "
        f"what you tried and that {_superior(manifest)} should take it. Do not work around it."
    )


def _listed(names: Iterable[str]) -> str:
    """A few names and a count of the rest."""
    every = list(names)
    rest = len(every) - MOST_LISTED
    return ", ".join(every[:MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _stop(text: str) -> str:
    """A text as one line that ends like a sentence."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?" else f"{text}."
