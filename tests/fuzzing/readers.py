"""The readers of text from outside, each with texts to begin with.

A reader returns what decided about a text: codes of findings, an outcome, or the reason of a refusal. It raises nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from orgkernel.loading.files import decode
from orgkernel.loading.formats import FORMATS
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.markdown import parse_skill, split_front_matter
from orgkernel.loading.parsed import ParsedText
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.runtime.trigger_parser import parse_trigger
from orgkernel.shell.check import check_command
from tests.property.test_format_laws import snapshot_with, tree_of_format
from tests.support.trees import TEMPLATES

_ISSUER, _AUDIENCE = "https://issuer.example", "orgkernel"


class FuzzedReader(NamedTuple):
    """A reader, and texts that it reads."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def _read_parsed(parse: Callable[[str], ParsedText], content: bytes) -> object:
    parsed = parse(content.decode("utf-8", "replace"))
    return tuple(each.row.code for each in parsed.problems), len(parsed.documents)


def _read_skill(content: bytes) -> object:
    file = decode("SKILL.md", "SKILL.md", content)
    parsed = parse_skill(file, split_front_matter(file.text))
    return tuple(each.row.code for each in parsed.problems), len(parsed.value or ())


def _read_trigger(content: bytes) -> object:
    parsed = parse_trigger(content.decode("utf-8", "replace"))
    return tuple(each.message[:20] for each in parsed.problems), len(parsed.uses), str(parsed.tree)[:12]


def _read_command(content: bytes) -> object:
    found = check_command(content.decode("utf-8", "replace"))
    return found.outcome, len(found.operations), len(found.unread)


def _build_format(name: str) -> FuzzedReader:
    """A format: its own files, each in its tree."""
    tree = tree_of_format(name)

    def read(content: bytes) -> object:
        number = tree.own[content[0] % len(tree.own)] if content else tree.own[0]
        return tuple(sorted({each.code for each in snapshot_with(tree, number, content[1:]).diagnostics}))

    return FuzzedReader(
        read, tuple(bytes([position]) + tree.texts[number] for position, number in enumerate(tree.own))
    )


def _build_tokens() -> FuzzedReader:
    """Tokens: a text becomes the payload of a signed one, and the token itself."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric import ec

    from manifest_api.guards.tokens import TokenSettings, TokenVerifier, UnfitToken

    key = ec.generate_private_key(ec.SECP256R1())
    folder = Path(mkdtemp())
    public: dict[str, Any] = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    (folder / "keys.json").write_text(json.dumps({"keys": [{**public, "kid": "a", "use": "sig"}]}))
    settings = TokenSettings(_ISSUER, _AUDIENCE, str(folder / "keys.json"), ("ES256",))
    verifier = TokenVerifier(settings, time.time)
    sign = jwt.PyJWS().encode
    claims = {"iss": _ISSUER, "aud": _AUDIENCE, "sub": "ann", "exp": 9e9, "scope": "orgkernel:read", "orgkernel_agent": "a"}  # fmt: skip

    def read(content: bytes) -> object:
        answers = []
        for token in (sign(content, key, "ES256", {"kid": "a"}), content.decode("utf-8", "replace")):
            try:
                answers.append(type(verifier.verify(token)).__name__)
            except UnfitToken as refusal:
                answers.append(str(refusal)[:30])
        return tuple(answers)

    token = sign(json.dumps(claims).encode(), key, "ES256", {"kid": "a"})
    return FuzzedReader(read, (json.dumps(claims).encode(), token.encode()))


@cache
def list_readers() -> Mapping[str, Callable[[], FuzzedReader]]:
    """The readers by name. Each is made when it is used."""
    documents = tuple(path.read_bytes() for path in sorted(TEMPLATES.rglob("*.yaml"))[:40])
    objects = (b'{"a": [1, -2.5e3, null, true, "\\u00e9\\n"], "b": {}}', b"[]", b'{"mcpServers": {"a": {"command": "x"}}}')  # fmt: skip
    return {
        "yaml": lambda: FuzzedReader(lambda content: _read_parsed(parse_yaml, content), documents),
        "json": lambda: FuzzedReader(lambda content: _read_parsed(parse_json, content), objects),
        "jsonc": lambda: FuzzedReader(
            lambda content: _read_parsed(parse_jsonc, content), (*objects, b"// a\n{}")
        ),
        "skill": lambda: FuzzedReader(
            _read_skill, (b"---\nname: release\ndescription: Publishes. Use when asked.\n---\nTag.\n",)
        ),
        "trigger": lambda: FuzzedReader(
            _read_trigger,
            (b"consecutive_tool_failures >= 5 OR context_fill > 0.85", b"NOT (unrecoverable_error AND elapsed_seconds < 3)"),
        ),
        "command": lambda: FuzzedReader(
            _read_command, (b"git push --force origin main", b"a=1; for i in *; do rm -rf \"$i\"; done", b"cat <<E | sh\nrm x\nE"),
        ),
        "token": _build_tokens,
        **{f"format-{name}": lambda name=name: _build_format(name) for name in FORMATS},  # type: ignore[misc]
    }  # fmt: skip
