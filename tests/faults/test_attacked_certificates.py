"""Certificates that must not be believed: the command, the route and the Python function refuse each, and name the keys."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations.certificates import verify_birth_certificate
from orgkernel.runtime.utc import as_utc
from orgkernel.state.certificates import encode_did, read_certificate, sign_certificate
from tests.api.keys import bearer, location_of, new_key
from tests.cli.running import run
from tests.support.in_process import run_here
from tests.support.trees import copy_template

Document = dict[str, Any]
VERIFY, REVOKE, RENEW, MOVE = (
    f"/v1/orgs/household/agents/clerk/{path}"
    for path in ("certificate/verify", "certificate/revoke", "certificate/renew", "lifecycle")
)
IDENTITY = (1).to_bytes(32, "little")


class Place:
    """A folder with an organization and its store, where `clerk` was commissioned, and a server on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "state.db"

    def orgkernel(self, *words: str) -> tuple[int, str, str]:
        """Run the command."""
        paths = () if words[0] == "audit" else ("--path", "household")
        done = run_here(*words, *paths, "--store", str(self.store), cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def print_certificate(self) -> str:
        return self.orgkernel("agent", "certificate", "clerk")[1]

    def verify(self, content: str) -> tuple[int, str, str]:
        """Verify a certificate by the command, beside the store."""
        (self.folder / "shown.certificate").write_text(content, encoding="utf-8")
        return self.orgkernel("agent", "certificate", "clerk", "--verify", "shown.certificate")

    def find_organization_key(self) -> bytes:
        (path,) = self.folder.rglob("organization.key")
        return bytes.fromhex(path.read_text())

    def ask(self, path: str, content: str | Document) -> tuple[int, Document]:
        """Ask a server on the store, with a key of every scope, about a certificate or with a body."""
        place = location_of(self.store)
        body = {"certificate": content} if isinstance(content, str) else content
        headers = bearer(new_key(place, ["admin"]))
        app = create_app(Kernel.open(self.folder / "household"), store=place)
        with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)) as client:
            answer = client.post(path, json=body, headers=headers)
        return answer.status_code, answer.json()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Made once; each test has a copy of its own."""
    place = Place(tmp_path_factory.mktemp("made"))
    copy_template(place.folder / "household", "household")
    code, _, err = place.orgkernel("agent", "commission", "clerk", "--role", "record_keeper")
    assert code == 0, err
    return place


@pytest.fixture
def place(made: Place, quick_folder: Path) -> Place:
    shutil.copytree(made.folder, quick_folder / "place")
    return Place(quick_folder / "place")


def sign(place: Place, document: Document, **changes: Any) -> str:
    """The certificate with other values, signed by the organization itself."""
    certificate = msgspec.structs.replace(read_certificate(json.dumps(document)), **changes)
    return msgspec.json.encode(sign_certificate(certificate, place.find_organization_key())).decode()


def add_member(place: Place, text: str) -> str:
    return text.replace("{", '{"clearance":"secret",', 1)


def repeat_member(place: Place, text: str) -> str:
    """Readers that take the first value read another role than those that take the last one."""
    return text.replace("{", '{"role_id":"steward",', 1)


def drop_type(place: Place, text: str) -> str:
    return text.replace('"type":"orgkernel:birth_certificate",', "")


def spell_signature_otherwise(place: Place, text: str) -> str:
    document = json.loads(text)
    return json.dumps(document | {"signature": document["signature"].upper()})


def space_signature(place: Place, text: str) -> str:
    document = json.loads(text)
    return json.dumps(document | {"signature": f"{document['signature'][:64]} {document['signature'][64:]}"})


def add_order(place: Place, text: str) -> str:
    """The same signature with a scalar that is larger by the order of the group."""
    document = json.loads(text)
    raw = bytes.fromhex(document["signature"])
    order = 2**252 + 27742317777372353535851937790883648493
    scalar = int.from_bytes(raw[32:], "little") + order
    return json.dumps(document | {"signature": (raw[:32] + scalar.to_bytes(32, "little")).hex()})


def sign_for_everyone(place: Place, text: str) -> str:
    """An issuer of small order, for which one signature is valid for every text."""
    document = json.loads(text)
    return json.dumps(document | {"issuer": encode_did(IDENTITY), "signature": (IDENTITY + bytes(32)).hex()})


def hold_for_everyone(place: Place, text: str) -> str:
    return sign(place, json.loads(text), did=encode_did(IDENTITY))


def sign_with_another_key(place: Place, text: str) -> str:
    seed = b"m" * 32
    issuer = encode_did(Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())
    certificate = msgspec.structs.replace(read_certificate(text), issuer=issuer, role_id="steward")
    return msgspec.json.encode(sign_certificate(certificate, seed)).decode()


def expire(place: Place, text: str) -> str:
    return sign(place, json.loads(text), expires_at=as_utc(time.time() - 1))


def end_never(place: Place, text: str) -> str:
    return sign(place, json.loads(text), expires_at="never")


def belong_to_another(place: Place, text: str) -> str:
    return sign(place, json.loads(text), agent_id="butler")


def never_issue(place: Place, text: str) -> str:
    """Signed by the organization, but for a key that no store has: as after a restored backup."""
    key = Ed25519PrivateKey.from_private_bytes(b"n" * 32).public_key().public_bytes_raw()
    return sign(place, json.loads(text), did=encode_did(key))


FORGED: dict[str, tuple[Callable[[Place, str], str], str]] = {
    "a member that is not signed": (add_member, "unknown field `clearance`"),
    "a repeated member": (repeat_member, "more than once"),
    "no type": (drop_type, "no member `type`"),
    "a signature in capitals": (spell_signature_otherwise, "128 hexadecimal digits in lower case"),
    "a signature with a space": (space_signature, "128 hexadecimal digits in lower case"),
    "a scalar above the order": (add_order, "a number above the order"),
    "an issuer of small order": (sign_for_everyone, "has a small order"),
    "a holder of small order": (hold_for_everyone, "has a small order"),
    "another issuer": (sign_with_another_key, "was issued by"),
    "an end that has passed": (expire, "expired at"),
    "an end that is no time": (end_never, "expired at `never`"),
    "another agent": (belong_to_another, "belongs to another agent"),
    "a key that is not stored": (never_issue, "is for a former key"),
}  # fmt: skip
NOT_IN_THE_DOCUMENT = {"a key that is not stored", "another issuer"}
"""Without the store, the issuer is compared only if it is stated, and keys are not compared."""
UNREADABLE = {"a member that is not signed", "a repeated member", "no type"}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_certificate_is_refused_everywhere(place: Place, name: str) -> None:
    """By the command, by the route, and by the Python function without a store; each names the keys."""
    forge, message = FORGED[name]
    forged = forge(place, place.print_certificate())
    code, out, err = place.verify(forged)
    assert (code, out) == (2, "")
    assert message in err
    status, problem = place.ask(VERIFY, forged)
    assert status == 409
    assert message in problem["detail"]
    if name not in UNREADABLE:
        document = json.loads(forged)
        named = document["did"], document["issuer"]
        assert any(did in err for did in named)
        assert any(did in problem["detail"] for did in named)
    if name in NOT_IN_THE_DOCUMENT:
        return
    with pytest.raises(OrgkernelError) as refusal:
        verify_birth_certificate(forged, time.time(), agent_id="clerk")
    assert message in refusal.value.message


def test_a_true_certificate_is_accepted_in_any_layout(place: Place) -> None:
    """Order and white space of the members are not signed, and do not change its meaning."""
    text = place.print_certificate()
    for shown in (text, json.dumps(json.loads(text), indent=4, sort_keys=True)):
        code, out, err = place.verify(shown)
        assert (code, err) == (0, ""), err
        assert "valid until" in out
        status, answer = place.ask(VERIFY, shown)
        assert (status, answer["issuer"], answer["revocation"]) == (200, "trusted", "not_revoked")


def test_offline_it_is_said_that_nothing_was_asked(place: Place) -> None:
    """Without the store, a certificate is verified, and the reader learns what was not."""
    text = place.print_certificate()
    issuer = json.loads(text)["issuer"]
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "shown.certificate").write_text(text, encoding="utf-8")
    verify = ("agent", "certificate", "clerk", "--verify", "shown.certificate")
    done = run(*verify, "--issuer", issuer, cwd=elsewhere)
    assert (done.returncode, done.stderr) == (
        0,
        "note: not checked for revocation, because the store of household is not here\n",
    )
    assert "was not checked; pass `--issuer`" in run(*verify, cwd=elsewhere).stderr
    verification = verify_birth_certificate(text, time.time(), issuer=issuer)
    assert (verification.issuer, verification.revocation) == ("trusted", "not_checked")
    # The store of another organization knows nothing about this agent.
    other = run("agent", "add", "worf", "--org", "yard", "--store", "other.db", cwd=elsewhere)
    assert other.returncode == 0, other.stderr
    done = run(*verify, "--issuer", issuer, "--store", "other.db", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert "not checked for revocation" in done.stderr


def test_another_machine_with_the_same_database_knows_the_issuer(place: Place) -> None:
    """Without the key of the organization, the issuer is compared with that of the stored certificate."""
    text = place.print_certificate()
    forged = sign_with_another_key(place, text)
    (identities,) = place.folder.rglob("identities")
    shutil.rmtree(identities)
    status, answer = place.ask(VERIFY, text)
    assert (status, answer["issuer"], answer["revocation"]) == (200, "stored", "not_revoked")
    assert place.verify(text)[0] == 0
    for message in (place.verify(forged)[2], place.ask(VERIFY, forged)[1]["detail"]):
        assert "was issued by" in message
        assert json.loads(forged)["issuer"] in message
    # A second key of the organization would make all its certificates invalid.
    for words in (("renew-certificate", "clerk"), ("commission", "butler", "--role", "steward")):
        code, _, err = place.orgkernel("agent", *words)
        assert (code, f"{json.loads(text)['issuer']}` with which `household` signs" in err) == (2, True), err
    assert list(place.folder.rglob("organization.key")) == []


def test_a_store_that_was_removed_is_not_offline(place: Place) -> None:
    """Removing the store does not restore a revoked certificate."""
    text = place.print_certificate()
    place.store.unlink()
    code, out, err = place.verify(text)
    assert (code, out) == (2, "")
    assert "there is no store" in err


@pytest.mark.parametrize("lifecycle", ["suspended", "decommissioned"])
def test_an_agent_that_is_stopped_has_no_certificate(place: Place, lifecycle: str) -> None:
    """Suspension ends it until the agent is active again; decommissioning ends it for good."""
    text = place.print_certificate()
    did = json.loads(text)["did"]
    assert place.ask(MOVE, {"lifecycle": lifecycle})[0] == 200
    for code, message in (
        (place.verify(text)[0], place.verify(text)[2]),
        (2, place.ask(VERIFY, text)[1]["detail"]),
    ):
        assert code == 2
        assert f"the agent is {lifecycle}" in message
        assert did in message
    code, _, err = place.orgkernel("agent", "renew-certificate", "clerk")
    assert (code, f"is {lifecycle}" in err) == (2, True)
    code, _, err = place.orgkernel("agent", "move", "clerk", "active")
    assert (code == 0) is (lifecycle == "suspended")
    assert (place.verify(text)[0] == 0) is (lifecycle == "suspended")


def test_a_certificate_of_an_agent_that_left_the_roster_is_refused(place: Place) -> None:
    """The roster declares who exists."""
    text = place.print_certificate()
    roster = place.folder / "household/crew.yaml"
    roster.write_text(roster.read_text().replace("  clerk:", "  scribe:"), encoding="utf-8")
    code, _, err = place.verify(text)
    assert (code, "no roster of `household` declares the agent" in err) == (2, True)
    assert "no roster" in place.ask(VERIFY, text)[1]["detail"]


@pytest.mark.parametrize("surface", ["command", "route"])
def test_a_revoked_certificate_never_comes_back(place: Place, surface: str) -> None:
    """Revoking ends the key; renewing gives a new one; the old one is refused for every agent."""
    text = place.print_certificate()
    did = json.loads(text)["did"]
    renewed = renew(place, surface)
    assert renewed["did"] == did  # as long as it is not revoked, the agent keeps its key
    assert place.verify(text)[0] == 0  # and its former certificate lasts until its own end
    revoke(place, surface)
    for shown in (text, json.dumps(renewed)):
        code, _, err = place.verify(shown)
        assert (code, did in err, "was revoked at" in err, "key copied" in err) == (2, True, True, True)
        assert "was revoked at" in place.ask(VERIFY, shown)[1]["detail"]
    code, _, err = place.orgkernel("agent", "revoke-certificate", "clerk")
    assert (code, "is already revoked" in err) == (2, True)
    code, _, err = place.orgkernel("agent", "renew-certificate", "clerk", "--public-key", did)
    assert (code, "is already revoked" in err) == (2, True)
    code, _, err = place.orgkernel("agent", "commission", "butler", "--role", "steward", "--public-key", did)
    assert (code, did in err) == (2, True)
    fresh = renew(place, surface)
    assert fresh["did"] != did
    assert place.verify(json.dumps(fresh))[0] == 0
    assert "was revoked at" in place.verify(text)[2]
    rows = json.loads(place.orgkernel("audit", "query", "--kind", "agent", "--format", "json")[1])
    assert [row["activity"] for row in rows][:3] == [
        "certificate_renewed",
        "key_revoked",
        "certificate_renewed",
    ]
    assert rows[1]["detail"]["did"] == did
    assert place.orgkernel("audit", "verify")[0] == 0


def renew(place: Place, surface: str) -> Document:
    if surface == "route":
        status, answer = place.ask(RENEW, {"reason": "yearly", "expires_at": time.time() + 86_400})
        assert status == 200, answer
        return answer
    code, out, err = place.orgkernel(
        "agent", "renew-certificate", "clerk", "--expires", "30d", "--format", "json"
    )
    assert code == 0, err
    answer = json.loads(out)
    assert answer.pop("_schema", None) is None
    return answer


def revoke(place: Place, surface: str) -> None:
    if surface == "route":
        status, answer = place.ask(REVOKE, {"reason": "key copied"})
        assert status == 200, answer
        return
    code, out, err = place.orgkernel("agent", "revoke-certificate", "clerk", "--reason", "key copied")
    assert (code, "is revoked" in out) == (0, True), err


def test_an_agent_keeps_its_certificate_to_itself(place: Place) -> None:
    """It has no right to revoke or renew it, with any scope."""
    secret = new_key(location_of(place.store), ["rank", "read"], agent="clerk")
    app = create_app(Kernel.open(place.folder / "household"), store=location_of(place.store))
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)) as client:
        for path in (REVOKE, RENEW):
            answer = client.post(path, json={}, headers=bearer(secret))
            assert answer.json()["code"] in ("SELF_GRANT", "NO_AUTHORITY")


def test_a_certificate_without_an_end_is_refused(place: Place) -> None:
    """An older version issued it: the refusal says how to get another one, and renewing works."""
    text = place.print_certificate()
    document = json.loads(text)
    del document["expires_at"]
    with open_store(location_of(place.store)) as store:
        store.context.change(
            lambda transaction: transaction.connection.exec_driver_sql(
                "UPDATE agent_identities SET certificate = ?", (json.dumps(document),)
            )
        )
    code, _, err = place.orgkernel("agent", "certificate", "clerk")
    assert (code, "expires_at" in err, "renew-certificate" in err) == (2, True, True)
    assert "expires_at" in place.verify(json.dumps(document))[2]
    assert place.orgkernel("agent", "renew-certificate", "clerk")[0] == 0
    assert place.verify(place.print_certificate())[0] == 0
