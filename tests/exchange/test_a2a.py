"""Agent cards: what A2A's own SDK accepts, signs over and verifies; who gets a card; what is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from orgkernel.errors import UsageError
from orgkernel.exchange.a2a import signing
from orgkernel.exchange.a2a.canonical import encode_canonical_card
from orgkernel.exchange.a2a.cards import (
    CHAIN_OF_COMMAND,
    PACE,
    RANK,
    Endpoint,
    build_organization_card,
    build_role_card,
)
from orgkernel.exchange.a2a.export import CARD_FILE, MARK_FILE, export_a2a, get_role_file
from orgkernel.exchange.a2a.keys import CardKeys, create_card_key, rotate_card_key
from orgkernel.exchange.a2a.signing import CardSigner, create_key
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.exchange.checkers import Checker, Rejected
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree

SHIPPED = ("blank", "household", "omega", "sigint_alpha", "software_dev", "starship")
ENDPOINT = Endpoint("https://agents.example/a2a")
DAY = 86_400.0


def view_of(kernel: Kernel, org: str) -> OrgView:
    return kernel.organization(org).snapshot.index


def cards_of(view: OrgView, **options: Any) -> dict[str, dict[str, Any]]:
    return {
        name: json.loads(text)
        for name, text in export_a2a(view, **options).files.items()
        if name.endswith(CARD_FILE)
    }


def extensions_of(card: dict[str, Any]) -> dict[str, Any]:
    return {each["uri"]: each["params"] for each in card["capabilities"]["extensions"]}


@pytest.mark.parametrize("org", SHIPPED)
def test_the_sdk_accepts_every_card(templates: Kernel, sdk: Checker, org: str) -> None:
    """Strictly, with every required field; and it signs over the same bytes as we do."""
    cards = cards_of(view_of(templates, org))
    assert CARD_FILE in cards
    for card in cards.values():
        assert sdk.ask("check", card=card).encode() == encode_canonical_card(card)
    for card in (build_organization_card(view_of(templates, org), ENDPOINT, short=True),):
        assert card is not None
        assert sdk.ask("check", card=card).encode() == encode_canonical_card(card)


def test_a_card_that_lacks_something_is_rejected(templates: Kernel, sdk: Checker) -> None:
    """The checker would notice."""
    card = cards_of(view_of(templates, "software_dev"))[CARD_FILE]
    for name in card:
        with pytest.raises(Rejected):
            sdk.ask("check", card={key: value for key, value in card.items() if key != name})
    with pytest.raises(Rejected):
        sdk.ask("check", card={**card, "x-more": 1})


def test_the_tenant_is_the_role(templates: Kernel) -> None:
    """One address for all; the card of the organization has no tenant."""
    cards = cards_of(view_of(templates, "software_dev"), endpoint=ENDPOINT)
    assert cards[get_role_file("co")]["supportedInterfaces"] == [
        {"url": ENDPOINT.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "co"}
    ]
    assert "tenant" not in cards[CARD_FILE]["supportedInterfaces"][0]


def test_command_rank_and_pace_are_extensions(templates: Kernel) -> None:
    """With the words of the documents."""
    card = cards_of(view_of(templates, "software_dev"))[get_role_file("codegen_specialist")]
    found = extensions_of(card)
    assert found[CHAIN_OF_COMMAND]["chain"] == ["engineering_xo", "co", "user"]
    assert found[CHAIN_OF_COMMAND]["can_delegate"] is False
    assert found[RANK] == {"entry_rank": "ensign", "ladder": ["ensign", "lieutenant", "commander", "senior"]}
    assert [tier["tier"] for tier in found[PACE]["tiers"]] == [
        "primary",
        "alternate",
        "contingent",
        "emergency",
    ]
    assert found[PACE]["tiers"][2]["escalate_to"] == "engineering_xo"
    assert [skill["id"] for skill in card["skills"]][:3] == ["domain:codegen", "domain:refactor", "skill:software_construction"]  # fmt: skip


def test_a_short_card_has_neither_extensions_nor_examples(templates: Kernel) -> None:
    """What callers may see who may see nothing else."""
    view = view_of(templates, "software_dev")
    for role_id in view.roles:
        card = build_role_card(view, role_id, ENDPOINT, short=True)
        assert card is not None
        assert card["capabilities"] == {}
        assert not any("examples" in skill for skill in card["skills"])


def test_the_version_follows_the_content(templates: Kernel) -> None:
    """The same card has the same version, and another card has another one."""
    view = view_of(templates, "software_dev")
    card, again = (build_role_card(view, "co", ENDPOINT) for _ in range(2))
    assert card == again
    other = build_role_card(view, "co", Endpoint("https://other.example"))
    assert card is not None
    assert other is not None
    assert card["version"] != other["version"]


BARE = {
    "org.yaml": """\
_schema: orgkernel:organization
org_id: bare
hierarchy: {chief: {subordinates: [idle, odd]}, idle: {}, odd: {}}
""",
    "roles/chief.yaml": "_schema: orgkernel:role_profile\nrole_id: chief\nrole_type: commander\n",
    "roles/idle.yaml": "_schema: orgkernel:role_profile\nrole_id: idle\ndescription: Has no skill.\n",
    "roles/odd.yaml": """\
_schema: orgkernel:role_profile
role_id: odd
description: "\\u2028 \\u007f \\U0001F600 \\" \\\\ \\t é e\\u0301"
examples: [one, "two\\n"]
capabilities: {intents: [greet]}
""",
}


def test_a_role_without_a_skill_has_no_card(tmp_path: Path, sdk: Checker) -> None:
    """Nothing is made up for it: the loss names it. Neither has one without a description."""
    view = Kernel.open(write_tree(tmp_path / "bare", BARE)).latest("bare").index
    export = export_a2a(view)
    assert list(export.files) == [MARK_FILE, CARD_FILE, get_role_file("odd")]
    losses = {loss.what: loss.count for loss in export.lost}
    assert losses["roles without a skill: idle"] == 1
    assert losses["roles without a description"] == 1
    card = json.loads(export.files[get_role_file("odd")])
    assert [skill["id"] for skill in card["skills"]] == ["intent:greet"]
    assert card["skills"][0]["examples"] == ["one", "two\n"]
    assert sdk.ask("check", card=card).encode() == encode_canonical_card(card)


def test_a_missing_address_is_replaced_by_a_reserved_name(templates: Kernel) -> None:
    """A name of RFC 2606, and a loss that says so."""
    export = export_a2a(view_of(templates, "blank"))
    assert "https://agents.invalid/blank" in export.files[CARD_FILE]
    assert "addresses" in [loss.what for loss in export.lost]
    assert "addresses" not in [loss.what for loss in export_a2a(view_of(templates, "blank"), ENDPOINT).lost]


# -- signatures ---------------------------------------------------------------------------------------------------------


def test_the_sdk_verifies_signed_cards(templates: Kernel, sdk: Checker, tmp_path: Path) -> None:
    """Of every organization; a changed card, another key and a missing signature are rejected."""
    signer = create_card_key(str(tmp_path / "key.pem"))
    keys = {"keys": [signer.public_key]}
    for org in SHIPPED:
        for card in cards_of(view_of(templates, org), sign=signer.sign).values():
            assert sdk.ask("verify", card=card, keys=keys) == "verified"
    card = cards_of(view_of(templates, "starship"), sign=signer.sign)[CARD_FILE]
    for change in (
        {"description": card["description"] + "."}, {"skills": card["skills"][1:]},
        {"supportedInterfaces": [{**card["supportedInterfaces"][0], "url": "https://elsewhere.example"}]},
        {"capabilities": {}}, {"documentationUrl": "https://elsewhere.example"},
    ):  # fmt: skip
        with pytest.raises(Rejected, match="InvalidSignaturesError"):
            sdk.ask("verify", card={**card, **change}, keys=keys)
    with pytest.raises(Rejected, match="is not pinned"):
        sdk.ask("verify", card=card, keys={"keys": [CardSigner(create_key()).public_key]})
    with pytest.raises(Rejected, match="NoSignatureError"):
        sdk.ask("verify", card={**card, "signatures": []}, keys=keys)


def test_the_same_card_has_the_same_signature(templates: Kernel) -> None:
    """So that a signed export changes only with its cards."""
    signer = CardSigner(create_key())
    view = view_of(templates, "blank")
    assert export_a2a(view, sign=signer.sign).files == export_a2a(view, sign=signer.sign).files


def test_a_former_key_verifies_until_its_time(templates: Kernel, sdk: Checker, tmp_path: Path) -> None:
    """The new key signs at once, and the one before is published for the overlap and no longer."""
    path = str(tmp_path / "key.pem")
    create_card_key(path)
    keys = CardKeys(path)
    view = view_of(templates, "blank")
    before = cards_of(view, sign=keys.signer().sign)[CARD_FILE]
    rotate_card_key(path, 0.0, DAY)
    after = cards_of(view, sign=keys.signer().sign)[CARD_FILE]
    assert before["signatures"] != after["signatures"]
    during, later = keys.published(DAY - 1), keys.published(DAY)
    assert [len(each["keys"]) for each in (during, later)] == [2, 1]
    assert sdk.ask("verify", card=before, keys=during) == sdk.ask("verify", card=after, keys=during)
    assert sdk.ask("verify", card=after, keys=later) == "verified"
    with pytest.raises(Rejected):
        sdk.ask("verify", card=before, keys=later)
    rotate_card_key(path, 2 * DAY, 3 * DAY)
    assert len(keys.published(2 * DAY)["keys"]) == 2, "the first key has run out"
    assert not any("d" in key for key in keys.published(0)["keys"]), "no private number is published"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "is not a private key"),
        ("ed25519", "is not a private key"),
        ("p384", "is not a private key"),
        ("encrypted", "is encrypted"),
    ],
)
def test_other_keys_are_refused(tmp_path: Path, content: bytes | str, words: str) -> None:
    """ES256 is the one algorithm, so P-256 is the one curve."""
    path = tmp_path / "key.pem"
    path.write_bytes(content if isinstance(content, bytes) else _other_key(content))
    path.chmod(0o600)
    with pytest.raises(UsageError, match=words):
        CardKeys(str(path))


def _other_key(kind: str) -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    key: Any = ed25519.Ed25519PrivateKey.generate() if kind == "ed25519" else ec.generate_private_key(ec.SECP384R1() if kind == "p384" else ec.SECP256R1())  # fmt: skip
    encryption = (
        serialization.BestAvailableEncryption(b"x") if kind == "encrypted" else serialization.NoEncryption()
    )
    written: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    )
    return written


def test_a_key_that_other_users_can_read_is_refused(tmp_path: Path) -> None:
    """As a key of TLS is."""
    path = tmp_path / "key.pem"
    create_card_key(str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(UsageError, match="can be read or written by other users"):
        CardKeys(str(path))
    path.chmod(0o600)
    if os.getuid() == 0:
        os.chown(path, 12345, 12345)
        with pytest.raises(UsageError, match="can be read or written by other users"):
            CardKeys(str(path))


def test_a_broken_file_changes_nothing_while_a_server_runs(tmp_path: Path) -> None:
    """It goes on with the key it has."""
    path = tmp_path / "key.pem"
    create_card_key(str(path))
    keys = CardKeys(str(path))
    before = keys.signer().public_key
    path.write_text("half a key")
    assert keys.signer().public_key == before


def test_without_cryptography_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra: a linter needs no signatures."""
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    for make in (signing.create_key, lambda: CardSigner(b"")):
        with pytest.raises(UsageError) as caught:
            make()
        assert caught.value.help == "install the extra `orgkernel[signing]`"


# -- the command line ---------------------------------------------------------------------------------------------------


def test_cards_are_signed_on_the_command_line(tmp_path: Path, sdk: Checker) -> None:
    """Make a key, export with it, rotate it, and verify with what `show` prints."""
    assert run("key", "card", "create", "key.pem", cwd=tmp_path).returncode == 0
    assert run("key", "card", "create", "key.pem", cwd=tmp_path).returncode == 2, "a key is never overwritten"
    done = run(
        "export", "--to", "a2a", "--org", "blank", "--url", ENDPOINT.url, "--sign-key", "key.pem", "-o", "cards", cwd=tmp_path
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "signatures" not in done.stderr
    rotated = run("key", "card", "rotate", "key.pem", "--overlap", "7d", cwd=tmp_path)
    assert rotated.returncode == 0
    keys = json.loads(run("key", "card", "show", "key.pem", cwd=tmp_path).stdout)
    assert keys["keys"][0]["kid"] == rotated.stdout.strip()
    for name in ("agent-card.json", "roles/co/agent-card.json"):
        card = json.loads((tmp_path / "cards" / name).read_text(encoding="utf-8"))
        assert sdk.ask("verify", card=card, keys=keys) == "verified"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--to", "cedar", "--url", "https://a.example"), "have no address"),
        (("--to", "cedar", "--sign-key", "key.pem"), "cannot be signed"),
        (("--to", "a2a", "--url", "nowhere"), "`--url` is `nowhere`"),
        (("--to", "a2a", "--sign-key", "missing.pem"), "cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    """Nothing that is said is without effect."""
    done = run("export", *options, "--org", "blank", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_key_is_not_written_through_what_is_there(tmp_path: Path) -> None:
    """Rotation replaces files, and does not follow a link that an attacker put next to the key."""
    path = tmp_path / "key.pem"
    create_card_key(str(path))
    (tmp_path / "elsewhere").write_text("mine")
    os.symlink(tmp_path / "elsewhere", f"{path}.new")
    rotate_card_key(str(path), 0.0, DAY)
    assert (tmp_path / "elsewhere").read_text() == "mine"
