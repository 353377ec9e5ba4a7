"""Find the workers of this work tree, by brief or by claims."""

from __future__ import annotations

import os
from math import inf
from typing import NamedTuple

from orgkernel.cli.stores import does_store_exist, open_current_store
from orgkernel.cli.work.contract_files import read_brief
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.decisions.ownership.owners import AuditedWorker, build_claimed_work
from orgkernel.errors import UsageError
from orgkernel.operations.claims import list_claims

BRIEF_FILE = os.path.join(".orgkernel", "brief.yaml")


class WorkersHere(NamedTuple):
    """The workers of this work tree, by brief or by claims."""

    own: list[AuditedWorker]
    others: list[AuditedWorker]
    """The workers whose claims are also current."""
    until: float
    """The time at which the first of the claims expires."""


def find_workers_here() -> WorkersHere:
    """The workers of this work tree. Raises `UsageError` if there is none."""
    own = [AuditedWorker(each, read_brief(each)) for each in list_named_briefs()]
    holder, session = os.environ.get("ORGKERNEL_HOLDER"), os.environ.get("ORGKERNEL_SESSION")
    claims: tuple[FileClaim, ...] = ()
    if does_store_exist(None):
        with open_current_store(None) as store:
            claims = list_claims(store)
    mine = [each for each in claims if holder and each.holder == holder and session in (None, each.session)]
    if not own and mine:
        own = [build_claimed_work(holder or "", mine)]
    if not own:
        raise UsageError("the worker has neither a brief nor a current claim", WAY_OUT)
    others = [
        build_claimed_work(f"{each.holder} (claim {each.token} of {each.org_id})", [each])
        for each in claims
        if each not in mine
    ]
    return WorkersHere(own, others, min((each.expires_at for each in claims), default=inf))


def list_named_briefs() -> list[str]:
    """The files of the briefs that are worked by here."""
    named = os.environ.get("ORGKERNEL_BRIEF", "")
    return [each for each in named.split(os.pathsep) if each] or [BRIEF_FILE] * os.path.isfile(BRIEF_FILE)


WAY_OUT = (
    f"put the brief into {BRIEF_FILE}, or name it in ORGKERNEL_BRIEF; a holder of claims sets ORGKERNEL_HOLDER to its own name; "
    "for people, the governance document says `commits: {held: agents}`"
)
