"""Which forms of tokens are found, and which values that only look like one are not.

Every token is put together here, so that no scanner of this repository finds one.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Mapping

import pytest

from orgkernel.runtime.secret_shapes import find_secrets, mask_secrets, may_hold_secrets

_DRAW = random.Random(37)
_LETTERS = string.ascii_letters + string.digits
_BODY = _LETTERS + "_-"


def draw(characters: str, length: int) -> str:
    """Random characters, always the same."""
    return "".join(_DRAW.choice(characters) for _ in range(length))


def encode(text: str) -> str:
    """The text in Base64."""
    return base64.b64encode(text.encode()).decode()


GITHUB = f"ghp{'_'}{draw(_LETTERS, 36)}"
TOKENS: Mapping[str, str] = {
    "Notion": f"ntn{'_'}{draw(string.digits, 11)}{draw(_LETTERS, 35)}",
    "Discord": f"MTk4{draw(_LETTERS, 22)}.{draw(_BODY, 6)}.{draw(_BODY, 38)}",
    "Discord webhook": f"https://discord.com/api/webhooks/{draw(string.digits, 18)}/{draw(_BODY, 68)}",
    "Mailchimp": f"{draw('0123456789abcdef', 32)}-us{14}",
    "Atlassian": f"AT{'ATT3x'}{draw(_BODY, 180)}={'1A2B3C4D'}",
    "Azure account": f"AccountName=x;AccountKey={draw(_LETTERS + '+/', 86)}==;EndpointSuffix=x",
    "Azure access": f"Endpoint=sb://x;SharedAccessKey={draw(_LETTERS + '+/', 43)}=",
    "Azure client": f"{draw(_LETTERS, 3)}8Q{'~'}{draw(_LETTERS, 34)}",
    "PlanetScale": f"pscale{'_'}tkn_{draw(_LETTERS, 43)}",
    "PlanetScale password": f"pscale{'_'}pw_{draw(_LETTERS, 43)}",
    "Terraform": f"{draw(_LETTERS, 14)}.atlas{'v1'}.{draw(_BODY, 67)}",
    "Sentry": f"sntrys{'_'}eyJ{draw(_LETTERS, 100)}_{draw(_LETTERS, 43)}",
    "htpasswd": f"deploy:$apr1${draw(_LETTERS, 8)}${draw(_LETTERS, 22)}",
    "htpasswd with bcrypt": f"deploy:$2y$05${draw(_LETTERS, 53)}",
    "htpasswd with SHA-1": f"deploy:{{SHA}}{draw(_LETTERS, 27)}=",
    "shadow": f"root:$6${draw(_LETTERS, 12)}${draw(_LETTERS, 86)}:19000",
    "split by a space without width": f"{GITHUB[:10]}\u200b{GITHUB[10:]}",
    "split between all characters": "\u2060".join(GITHUB),
    "split by a soft hyphen": f"{GITHUB[:2]}\u00ad{GITHUB[2:]}",
    "Base64": encode(GITHUB),
    "Base64 of a line": encode(f"export GITHUB_TOKEN={GITHUB}\n"),
    "Base64 for URLs": base64.urlsafe_b64encode(f"?:{GITHUB}".encode()).decode(),
    "Base64 in lines": base64.encodebytes(
        f"some words before the token and then {GITHUB} and more".encode()
    ).decode(),
    "Base64 twice": encode(encode(GITHUB)),
}
LOOK_ALIKES = [
    f"sha512-{encode(draw(_LETTERS, 64))}", f"sha256:{draw('0123456789abcdef', 64)}", draw("0123456789abcdef", 40),
    f"data:image/png;base64,{base64.b64encode(_DRAW.randbytes(3000)).decode()}", encode("Lorem ipsum dolor sit amet, consectetur"),
    encode('{"alg":"HS256","typ":"JWT","kid":"a-key-id-of-the-issuer"}'), "https://discord.com/api/webhooks/123/abc",
    "AccountKey=<your-key>", "AccountKey=${AZURE_KEY}", "arn:aws:iam::123456789012:role/deploy-us", "region-us1 and en-us12",
    "src/MTableHeader/NTItems.abcdef.generated_file_name_of_the_component", "ODView.Header.module_map_of_everything_in_there",
    f"pscale_tkn_{'x' * 43}", "xyz.atlasv1.token", "`user:$apr1$` begins a hash", "$2y$05$ is the prefix of bcrypt",
    "ntn_module_name_of_the_component", "👩\u200d💻 and می\u200cکنند", f"ssh-rsa AAAAB3NzaC1yc2E{draw(_LETTERS, 300)}",
    "550e8400-e29b-41d4-a716-446655440000", "file~1.Q~", "postgres://user:$PASSWORD@db.example.com",
]  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_found_and_masked(name: str) -> None:
    """Also between other words, where nothing of it but its prefix is left."""
    text = f"see {TOKENS[name]} there"
    assert may_hold_secrets(text)
    (secret,) = find_secrets(text)
    masked = mask_secrets(text)
    assert len(masked) == len(text)
    assert "*" * 12 in masked
    assert text[secret.start : secret.end].strip() in f"{TOKENS[name]} there"
    assert [*find_secrets(masked)] == []


def test_what_looks_like_a_token_is_none() -> None:
    """Digests, ids, names, placeholders, pictures and words of other scripts."""
    assert [(each, [*find_secrets(each)]) for each in LOOK_ALIKES if [*find_secrets(each)]] == []
