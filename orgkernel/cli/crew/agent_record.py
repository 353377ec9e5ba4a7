"""`orgkernel agent`: commissions, certificates, work and the service record, and personality."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from orgkernel.cli.crew.agent_options import (
    agent_argument,
    agent_change_options,
    open_agent_operation,
    open_agent_question,
    org_option,
    question_options,
)
from orgkernel.cli.opening import add_path_options, cache_option, format_option, with_options
from orgkernel.cli.output import echo_answer, format_count, join_lines, list_places
from orgkernel.cli.stores import (
    by_option,
    does_store_exist,
    echo_record,
    echo_records,
    locate_current_store,
    open_declared_kernel,
    open_question,
    parse_until,
    show_time,
    store_option,
)
from orgkernel.decisions.evidence.crew_records import OUTCOMES, Personality
from orgkernel.decisions.evidence.service_record import PersonalityDrift
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import UsageError
from orgkernel.operations.crew import (
    EpisodeDraft,
    ServiceRecord,
    find_episodes,
    find_service_record,
    observe_personality,
    record_episode,
)
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from orgkernel.operations.certificates import CertificateVerification
    from orgkernel.operations.commissions import CommissionOrder, CommissionOutcome, CommissionReport

_SAID = {
    "commissioned": "is commissioned",
    "already": "was commissioned before",
    "would_commission": "can be commissioned",
}


@click.command("commission", short_help="Put an agent to work in a role, step by step.")
@click.argument("agent_id", metavar="[AGENT]", required=False)
@click.option(
    "--role", metavar="ROLE", help="Role that the agent will fill; the roster must assign it to the agent."
)
@click.option(
    "--file",
    "file",
    metavar="FILE",
    help="File with `AGENT ROLE` in each line, in place of AGENT; `-` for stdin.",
)
@click.option(
    "--public-key",
    metavar="DID",
    help="The agent's own `did:key`.  [default: a new key, kept next to the store]",
)
@click.option("--probation", is_flag=True, help="Begin on probation.")
@click.option("--dry-run", is_flag=True, help="Show the steps and store nothing.")
@agent_change_options
def commission(
    agent_id: str | None, role: str | None, file: str | None, public_key: str | None, probation: bool, dry_run: bool,
    org: str | None, reason: str, form: str, **where: Any,
) -> None:  # fmt: skip
    """Put an agent to work in a role: seven steps, each with what it did and why.

    The agent gets a key, a signed birth certificate, the skills that every agent needs, and those of the role. With `--file`,
    all agents are commissioned or none. Repeating the command changes nothing.
    """
    from orgkernel.operations.commissions import (  # imported here, because it loads the store, which is slow
        commission_agents,
        preview_commissions,
    )

    orders = _read_orders(agent_id, role, file, public_key, probation)
    if dry_run:
        options = {name: where[name] for name in ("paths", "store", "no_cache")}
        kernel, name = open_agent_question(org, **options)
        report = preview_commissions(kernel, name, orders)
    else:
        with open_agent_operation(**where) as context:
            report = commission_agents(context, orders, org=org, reason=reason)
    echo_answer(form, report, lambda: join_lines(_report_lines(report)))


def _read_orders(
    agent_id: str | None, role: str | None, file: str | None, public_key: str | None, probation: bool
) -> list[CommissionOrder]:
    from orgkernel.operations.commissions import CommissionOrder

    if file is not None and (agent_id or role or public_key):
        raise UsageError(
            "`--file` names the agents and their roles", "leave AGENT, `--role` and `--public-key` out"
        )
    if file is None:
        if not agent_id or not role:
            raise UsageError(
                "no agent or no role given", "write `orgkernel agent commission AGENT --role ROLE`"
            )
        return [CommissionOrder(agent=agent_id, role=role, public_key=public_key, probation=probation)]
    orders = []
    for number, line in enumerate(_read(file).splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2:
            raise UsageError(
                f"line {number} of {quote(file)} is not an agent and a role", "write `AGENT ROLE`"
            )
        orders.append(CommissionOrder(agent=words[0], role=words[1], probation=probation))
    return orders


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{quote(file)} cannot be read: {error}") from None


def _report_lines(report: CommissionReport) -> Iterator[str]:
    for each in report.commissions:
        yield f"{each.agent_id} {_SAID[each.outcome]} as {each.role_id} of {each.org_id}"
        if len(report.commissions) == 1:
            yield from _step_lines(each)
    if len(report.commissions) > 1:
        lacking = [each for each in report.commissions if any(step.missing for step in each.steps)]
        yield f"{format_count(len(report.commissions), 'agent')}, {len(lacking)} of them with something missing"


def _step_lines(outcome: CommissionOutcome) -> Iterator[str]:
    for number, step in enumerate(outcome.steps, 1):
        yield f"{number} {step.step.replace('_', ' '):<15} {step.outcome:<8} {step.text}"
        yield from (f"    missing: {each}" for each in step.missing)
        yield from list_places(step.why, "    ")


@click.command("certificate", short_help="Print or verify the birth certificate of an agent.")
@agent_argument
@click.option(
    "--verify", "file", metavar="FILE", help="Verify the certificate in FILE instead; `-` for stdin."
)
@click.option(
    "--issuer",
    metavar="DID",
    help="The `did:key` that must have signed it.  [default: the organization's, if its key is stored here]",
)
@org_option
@add_path_options
@store_option
@cache_option
def certificate(
    agent_id: str, file: str | None, issuer: str | None, org: str | None, store: str | None, **where: Any
) -> None:
    """Print the signed birth certificate of an agent as JSON, or verify one.

    If the store of the organization is available, the command also checks whether the certificate was revoked and
    whether the agent is suspended or decommissioned. Without it, only the content, the expiry date and the signature are verified.
    """
    from orgkernel.operations.certificates import find_certificate

    if file is None:
        kernel, _ = open_agent_question(org, store=store, **where)
        with open_question(store, kernel) as context:
            stored_certificate = find_certificate(context, agent_id, org=org)
        click.echo(msgspec.json.encode(stored_certificate))
        return
    verification = _verify(_read(file), agent_id, issuer, org, store, **where)
    birth = verification.certificate
    if verification.issuer == "not_checked":
        click.echo(
            f"note: whether {birth.issuer} is the key of {birth.org_id} was not checked; pass `--issuer`",
            err=True,
        )
    if verification.revocation == "not_checked":
        click.echo(
            f"note: not checked for revocation, because the store of {birth.org_id} is not here", err=True
        )
    click.echo(
        f"{birth.agent_id} was commissioned as {birth.role_id} of {birth.org_id}: "
        f"the certificate is valid until {birth.expires_at}"
    )


def _verify(
    content: str,
    agent_id: str,
    issuer: str | None,
    org: str | None,
    store: str | None,
    paths: tuple[str, ...],
    no_cache: bool,
) -> CertificateVerification:
    """Verify a certificate, with the store if there is one."""
    from orgkernel.operations.certificates import verify_against_store, verify_birth_certificate

    # Checkpoints without a store show that it was removed, which must not pass for an organization without one.
    if not does_store_exist(store) and not os.path.isdir(locate_current_store(store).checkpoints):
        return verify_birth_certificate(content, time.time(), agent_id=agent_id, issuer=issuer)
    with open_question(store, open_declared_kernel(paths, no_cache=no_cache)) as context:
        return verify_against_store(context, content, agent_id=agent_id, org=org, issuer=issuer)


@click.command("renew-certificate", short_help="Issue a new certificate for an agent.")
@agent_argument
@click.option(
    "--expires",
    metavar="WHEN",
    help="When it ends: `30m`, `24h`, `7d`, or a date.  [default: after 365 days]",
)
@click.option(
    "--public-key",
    metavar="DID",
    help="The agent's own new `did:key`, after its key was revoked.  [default: a new key, kept next to the store]",
)
@agent_change_options
def renew_certificate_(
    agent_id: str, expires: str | None, public_key: str | None, org: str | None, reason: str, form: str, **where: Any
) -> None:  # fmt: skip
    """Issue a new certificate for an agent. The agent keeps its key, or gets a new one if its key was revoked."""
    from orgkernel.operations.certificates import renew_certificate

    until = parse_until(expires)
    with open_agent_operation(**where) as context:
        issued = renew_certificate(
            context, agent_id, expires_at=until, public_key=public_key, org=org, reason=reason
        )
    echo_record(form, issued, f"{agent_id} has a certificate until {issued.expires_at} for {issued.did}")


@click.command("revoke-certificate", short_help="Revoke the key and the certificates of an agent.")
@agent_argument
@agent_change_options
def revoke_certificate_(agent_id: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Revoke the key of an agent, and all certificates for it, at once. It cannot be undone."""
    from orgkernel.operations.certificates import revoke_certificate

    with open_agent_operation(**where) as context:
        revocation = revoke_certificate(context, agent_id, org=org, reason=reason)
    echo_record(
        form, revocation, f"the key {revocation.did} of {agent_id} is revoked, and its certificates with it"
    )


@click.command("record", short_help="Record a piece of work of an agent.")
@agent_argument
@click.option("--outcome", type=click.Choice(OUTCOMES), required=True, help="How the work ended.")
@click.option(
    "--id",
    "episode_id",
    metavar="ID",
    help="Your own id for it; recording the same id again changes nothing.",
)
@click.option("--role", metavar="ROLE", help="Role in which the agent worked.")
@click.option("--intent", metavar="INTENT", help="Intent that it handled.")
@click.option("--tier", metavar="TIER", help="Capability tier that did it, such as `T2`.")
@click.option("--cognitive-skill", metavar="NAME", help="Cognitive skill that it followed.")
@click.option("--procedure", metavar="NAME", help="Procedure that it ran.")
@click.option(
    "--skill", "skills", multiple=True, metavar="SKILL", help="Skill that was exercised. Repeatable."
)
@click.option("--tool", "tools", multiple=True, metavar="TOOL", help="Tool that was called. Repeatable.")
@click.option(
    "--reference", default="", metavar="TEXT", help="Where the result of the work is kept, such as a URL."
)
@click.option("--digest", default="", metavar="SHA256", help="SHA-256 of the result of the work.")
@org_option
@with_options(by_option, add_path_options, store_option, cache_option, format_option("text", "json"))
def record(
    agent_id: str, outcome: Any, episode_id: str | None, org: str | None, form: str, actor: str, paths: tuple[str, ...],
    store: str | None, no_cache: bool, **values: Any,
) -> None:  # fmt: skip
    """Record a piece of work without its content. It counts as practice of its skills, and its outcome as evidence of trust."""
    try:
        draft = msgspec.convert(
            {"outcome": outcome, "id": episode_id, **values}, prepared(EpisodeDraft), strict=True
        )
    except msgspec.ValidationError as error:
        raise UsageError(f"these options do not describe a piece of work: {error}") from None
    with open_agent_operation(actor, paths, store, no_cache) as context:
        done = record_episode(context, agent_id, draft, org=org)
    text = "recorded" if done.outcome == "stored" else "was recorded before"
    echo_record(form, done, f"episode {done.episode.episode_id} of {agent_id} {text}: {done.episode.outcome}")


@click.command("episodes")
@agent_argument
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum number of episodes."
)
@click.option(
    "--before",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Only episodes that were stored before this one.",
)
@question_options
def episodes(agent_id: str, limit: int, before: int | None, form: str, **where: Any) -> None:
    """List the recorded work of an agent, newest first."""
    kernel, org = open_agent_question(**where)
    with open_question(where["store"], kernel) as context:
        agent_episodes = find_episodes(context, agent_id, org=org, before=before, limit=limit)
    echo_records(
        form,
        agent_episodes,
        ("number", "episode", "at", "outcome", "role", "intent", "reference"),
        lambda each: (
            each.number, each.episode_id, show_time(each.at), each.outcome, each.role_id, each.intent, each.reference,
        ),
    )  # fmt: skip


@click.command("service-record", short_help="Show what an agent has done, and how well.")
@agent_argument
@question_options
def service_record(agent_id: str, form: str, **where: Any) -> None:
    """Show what an agent has done: its birth, episodes, success rate, trust over time and promotions."""
    kernel, org = open_agent_question(**where)
    with open_question(where["store"], kernel) as context:
        agent_record = find_service_record(context, agent_id, org=org)
    echo_answer(form, agent_record, lambda: join_lines(_render_service_record(agent_record)))


def _render_service_record(agent_record: ServiceRecord) -> Iterator[str]:
    service = agent_record.service
    yield f"{agent_record.agent_id} of {agent_record.org_id}, {agent_record.lifecycle}"
    yield f"born        {agent_record.born or 'not yet commissioned'}"
    yield f"roles       {', '.join(each.role_id for each in agent_record.commissions) or 'none'}"
    rate = "" if service.success_rate is None else f", {service.success_rate:.0%} successful"
    yield f"episodes    {service.total_episodes}{rate}"
    yield f"trajectory  {service.trust_trajectory}"
    for each in agent_record.promotions:
        yield f"rank        {each.before or 'none'} to {each.after or 'none'}, {each.at}, by {each.actor}"
    yield f"personality {_render_drift(agent_record.personality)}"


def _render_drift(drift: PersonalityDrift) -> str:
    if drift.distance is None:
        return "not observed"
    alarm = "alarm" if drift.alarm else "within the limit"
    return f"drifted by {drift.distance:.2f}, limit {drift.limit:g}: {alarm}"


_TRAITS = Personality.__struct_fields__


@click.command("personality", short_help="Show or record how the personality of an agent drifts.")
@agent_argument
@with_options(*(click.option(f"--{trait}", type=click.FloatRange(0, 1), metavar="0..1") for trait in _TRAITS))
@agent_change_options
def personality(agent_id: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Show how far the personality of an agent has drifted from the roster; with five traits, record an observation first."""
    observed = {trait: value for trait in _TRAITS if (value := where.pop(trait)) is not None}
    if observed and len(observed) < len(_TRAITS):
        lacking = listing(f"--{trait}" for trait in _TRAITS if trait not in observed)
        raise UsageError("an observation needs all five traits", f"add {lacking}")
    if observed:
        with open_agent_operation(**where) as context:
            drift = observe_personality(context, agent_id, Personality(**observed), org=org, reason=reason)
    else:
        kernel, name = open_agent_question(org, where["paths"], where["store"], where["no_cache"])
        drift = kernel.personality(name, agent_id)
    echo_answer(
        form,
        drift,
        lambda: join_lines([f"{agent_id} {_render_drift(drift)}", *list_places(drift.why, "    ")]),
    )


COMMANDS = (
    commission, certificate, renew_certificate_, revoke_certificate_, record, episodes, service_record, personality,
)  # fmt: skip
