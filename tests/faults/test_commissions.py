"""Commissions that are cut short, come at once, or meet a disk without room: keys and store never disagree."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from orgkernel.errors import Refused, StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.certificates import find_certificate, find_issuer, verify_birth_certificate
from orgkernel.operations.commissions import CommissionOrder, commission_agents
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.upkeep import copy_store
from orgkernel.state import identity_keys
from orgkernel.state.certificates import decode_did, derive_did, render_certificate
from orgkernel.state.identity_keys import IdentityKeys
from orgkernel.state.location import StoreLocation, parse_location
from tests.state.opening import Clock, opened
from tests.support.patience import PATIENCE
from tests.support.trees import write_tree

MANY = 1_000
HAND = CommissionOrder(agent="a0", role="hand")
FILES = {
    "org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {boss: {subordinates: [hand]}}\n",
    "roles.yaml": '{_schema: "orgkernel:role_profile", role_id: boss, role_type: executive}\n---\n'
    '{_schema: "orgkernel:role_profile", role_id: hand, capabilities: {skills: [{skill: helm}]}}\n',
    "skills.yaml": '{_schema: "orgkernel:skill_catalog", skills: {maps: {}, helm: {prerequisites: []}}}\n',
    "crew.yaml": "_schema: orgkernel:crew_roster\nagents:\n"
    + "".join(f"  a{number}: {{assignments: [{{role: hand}}]}}\n" for number in range(MANY)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    write_tree(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Kernel:
    return Kernel.open(folder)


@pytest.fixture
def place(quick_folder: Path) -> StoreLocation:
    return parse_location("state.db", str(quick_folder))


def commission(
    kernel: Kernel, place: StoreLocation, *orders: CommissionOrder
) -> list[tuple[str, str | None]]:
    with opened(place) as store:
        context = Context(kernel.with_store(store), store, Actor("system:cli"))
        report = commission_agents(context, orders or (HAND,))
    return [(each.outcome, each.did) for each in report.commissions]


def test_a_thousand_are_commissioned_in_one_transaction(kernel: Kernel, place: StoreLocation) -> None:
    """Each with a key and a certificate of its own; again, all of them were."""
    orders = [CommissionOrder(agent=f"a{number}", role="hand") for number in range(MANY)]
    done = commission(kernel, place, *orders)
    assert {outcome for outcome, _ in done} == {"commissioned"}
    assert len({did for _, did in done}) == MANY
    with opened(place) as store:
        assert len(store.read_view("shop").commissions) == MANY
        assert [len(each) for each in store.read_view("shop").skills.values()] == [8] * MANY


def test_a_certificate_proves_who_an_agent_is(kernel: Kernel, place: StoreLocation) -> None:
    """A certificate is verified without the store; a change of it, or a signature with another key, is detected."""
    commission(kernel, place)
    with opened(place) as store:
        certificate = find_certificate(Context(kernel.with_store(store), store, Actor("")), "a0")
    issuer = find_issuer(place, "shop")
    text, now = render_certificate(certificate), Clock().now
    assert verify_birth_certificate(text, now, issuer=issuer).certificate == certificate
    for field, value in (
        ("agent_id", "a1"), ("org_id", "yard"), ("did", issuer), ("expires_at", "2999-01-01T00:00:00Z"),
        ("signature", "00" * 64),
    ):  # fmt: skip
        forged = msgspec.structs.replace(certificate, **{field: value})
        with pytest.raises(
            Refused, match=f"the signature of `{issuer}` on the certificate of .* is not valid"
        ) as refusal:
            verify_birth_certificate(render_certificate(forged), now, issuer=issuer)
        assert forged.did in refusal.value.message
    with pytest.raises(Refused, match=f"{certificate.did}.* was issued by `{issuer}`"):
        verify_birth_certificate(text, now, issuer=derive_did(bytes(32)))
    for other in ("", "{}", "[1]", text[:-9], "[" * 9_000, " " * 20_000 + text):
        with pytest.raises(Refused, match="is not a birth certificate"):
            verify_birth_certificate(other, now)


@pytest.mark.parametrize(
    "did",
    ["did:key:z6Mk", "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", "did:web:x", "", "z" * 99],
)
def test_what_no_did_of_ours_is(kernel: Kernel, place: StoreLocation, did: str) -> None:
    """Another kind of key, another method or no key at all is refused, and nothing is stored."""
    with pytest.raises(Refused, match="is not the `did:key`"):
        commission(kernel, place, CommissionOrder(agent="a0", role="hand", public_key=did))
    with opened(place) as store:
        assert store.read_view("shop").agents == {}


def test_an_agent_may_keep_its_private_key(kernel: Kernel, place: StoreLocation) -> None:
    """Only its public key is shown. The key is created with the organization, and no other organization has it."""
    did = derive_did(b"k" * 32)
    own = CommissionOrder(agent="a0", role="hand", public_key=did)
    assert commission(kernel, place, own) == [("commissioned", did)]
    assert decode_did(did)
    assert IdentityKeys(place.checkpoints, "shop", os.urandom).agents() == {}
    with pytest.raises(Refused, match="belongs to the agent `a0`"):
        commission(kernel, place, CommissionOrder(agent="a1", role="hand", public_key=did))
    with pytest.raises(Refused, match="has the key"):
        commission(kernel, place, CommissionOrder(agent="a0", role="hand", public_key=derive_did(b"l" * 32)))


KILLED = """
import os, sys
from orgkernel.state.crew import Crew
Crew.commission = lambda *rest, **more: os._exit(9)
from orgkernel.cli import main
sys.argv = ["orgkernel", "agent", "commission", "a0", "--role", "hand", "--store", sys.argv[1], "--path", sys.argv[2]]
main()
"""


def test_a_commission_that_is_killed_is_taken_up(kernel: Kernel, place: StoreLocation, folder: Path) -> None:
    """The key was written and the store was not: the next commission uses that key, and there is one identity."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, place.path, str(folder)], check=False, timeout=PATIENCE
    )
    assert done.returncode == 9
    keys = IdentityKeys(place.checkpoints, "shop", os.urandom)
    left = keys.agents()["a0"].did
    with opened(place) as store:
        assert store.read_view("shop").identities == {}
    assert commission(kernel, place) == [("commissioned", left)]
    assert commission(kernel, place) == [("already", left)]
    assert [each.did for each in keys.agents().values()] == [left]
    for name in ("organization.key", "agents.jsonl"):
        assert os.stat(os.path.join(keys.folder, name)).st_mode & 0o777 == 0o600


def test_a_full_disk_for_the_keys_stores_nothing(
    kernel: Kernel, place: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written of a line is taken back, and the next commission succeeds."""

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(identity_keys.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        commission(kernel, place)
    monkeypatch.undo()
    assert IdentityKeys(place.checkpoints, "shop", os.urandom).agents() == {}
    with opened(place) as store:
        assert store.read_view("shop").identities == {} == store.read_view("shop").agents
    assert [outcome for outcome, _ in commission(kernel, place)] == ["commissioned"]


def test_a_line_of_a_key_that_was_cut_is_no_key(kernel: Kernel, place: StoreLocation) -> None:
    """A process that died while it wrote leaves a torn line; the next key is on a line of its own."""
    commission(kernel, place)
    keys = IdentityKeys(place.checkpoints, "shop", os.urandom)
    with open(os.path.join(keys.folder, "agents.jsonl"), "ab") as file:
        file.write(b'{"agent_id":"a1","did":"did:k')
    commission(kernel, place, CommissionOrder(agent="a1", role="hand"))
    assert sorted(keys.agents()) == ["a0", "a1"]


def test_two_who_commission_the_same_agent_at_once_agree(kernel: Kernel, place: StoreLocation) -> None:
    """One is first; both are told of the same key, and there is one line of it."""
    done: list[tuple[str, str | None]] = []
    threads = [threading.Thread(target=lambda: done.extend(commission(kernel, place))) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcome for outcome, _ in done) == ["already", "already", "commissioned"]
    assert len({did for _, did in done}) == 1
    assert len(IdentityKeys(place.checkpoints, "shop", os.urandom).agents()) == 1


def test_keys_are_in_a_backup_and_never_in_the_store(
    kernel: Kernel, place: StoreLocation, quick_folder: Path
) -> None:
    """The rows have public keys only; the copy of the checkpoints has the private ones."""
    commission(kernel, place)
    keys = IdentityKeys(place.checkpoints, "shop", os.urandom)
    copy = parse_location("copy.db", str(quick_folder))
    copy_store(place, copy.path)
    assert IdentityKeys(copy.checkpoints, "shop", os.urandom).agents() == keys.agents()
    seed = keys.agents()["a0"].seed
    issuer = keys.find_issuer() or b""
    for path in (place.path, f"{place.path}-wal"):
        content = Path(path).read_bytes() if os.path.exists(path) else b""
        assert seed.encode() not in content
        assert issuer.hex().encode() not in content
