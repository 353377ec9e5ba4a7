"""The labeled texts of `benchmarks/data/secrets`: secrets that are made up, and texts that look like some.

Nothing in the form of a token is in a file of the repository. It is put together here, the same in each run.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

DATA = Path(__file__).parent / "data/secrets"
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "letter": string.ascii_letters,
    "upper": string.ascii_uppercase + string.digits,
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "base32": string.ascii_uppercase + "234567",
    "base64": string.ascii_letters + string.digits + "+/",
    "bech32": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "bech32_upper": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "crockford": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
}
_RANDOM = re.compile(r"<(\w+) (\d+)>")
SEED = 20_261_123


class SecretText(NamedTuple):
    """A text with the place of its secret."""

    group: str
    text: str
    start: int
    end: int


class HarmlessText(NamedTuple):
    """A text without a secret."""

    group: str
    text: str


def secret_texts(seed: int = SEED) -> list[SecretText]:
    """All texts with a secret."""
    dice = random.Random(seed)
    data = _read("secrets")
    recipes = [("shapes", each, data["carriers"]) for each in data["shapes"]]
    recipes += [
        ("others", each, data["carriers"][number % 2 :: 2]) for number, each in enumerate(data["others"])
    ]
    texts = [
        _marked(group, carrier.replace("{}", f"⟦{each['secret']}⟧"), dice)
        for group, each, carriers in recipes
        for carrier in carriers
    ]
    return texts + [_marked("assigned", each.replace("\\n", "\n"), dice) for each in data["assigned"]]


def harmless_texts(seed: int = SEED) -> list[HarmlessText]:
    """All texts without one."""
    return list(_harmless(random.Random(seed)))


def _harmless(dice: random.Random) -> Iterator[HarmlessText]:
    data = _read("harmless")
    for each in data["made"]:
        for carrier in each["carriers"]:
            for _ in range(each["times"]):
                yield HarmlessText(each["group"], carrier.replace("{}", _fill(each["text"], dice)))
    for group, lines in data["lines"].items():
        for line in lines:
            yield HarmlessText(group, line)


def _marked(group: str, text: str, dice: random.Random) -> SecretText:
    before, _, rest = _fill(text, dice).partition("⟦")
    secret, _, after = rest.partition("⟧")
    return SecretText(group, before + secret + after, len(before), len(before) + len(secret))


def _fill(text: str, dice: random.Random) -> str:
    """The text of a recipe. Every random part has a digit and a letter where its alphabet has both."""

    def characters(found: re.Match[str]) -> str:
        alphabet, length = _ALPHABETS[found[1]], int(found[2])
        while True:
            made = "".join(dice.choices(alphabet, k=length))
            kinds = {character.isdigit() for character in alphabet}
            if length < 8 or {character.isdigit() for character in made} == kinds:
                return made

    text = text.replace("~~", "\0").replace("~", "").replace("\0", "~")
    return _RANDOM.sub(characters, text)


def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    return data
