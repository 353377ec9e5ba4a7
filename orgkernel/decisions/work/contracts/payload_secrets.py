"""Contracts must not contain secrets, because they are stored permanently and shown to every worker of the mission.

A contract with a secret is refused instead of masked, because a masked contract is not the one that its writer signed.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.work.contracts.findings import ContractFinding, is_uuid4
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Brief, Contract
from orgkernel.runtime.secret_shapes import find_in_value, may_hold_secrets


def find_payload_secrets(contract: Contract) -> Iterator[ContractFinding]:
    """SECRET_IN_PAYLOAD: a text of the contract contains a secret."""
    searched = contract
    if isinstance(contract, Brief) and all(
        each is None or is_uuid4(each) for each in (contract.id, contract.parent)
    ):
        # The digits of these ids look like those of a token, and would start the slow search for nearly every brief.
        searched = replace(contract, id=None, parent=None)
    if not may_hold_secrets(msgspec.json.encode(searched).decode()):
        return
    for route, _, secret in find_in_value(msgspec.to_builtins(contract)):
        message = f"{quote('.'.join(map(str, route)))} contains {quote(secret.masked)}, which looks like {secret.what}"
        help = "revoke the secret, and write the name of a credential instead"
        yield ContractFinding(row.SECRET_IN_PAYLOAD, route, message, help)
