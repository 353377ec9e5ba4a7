"""Files whose content is secret, by their names: environment files, vaults, credentials and key material.

Agents do not read them. A governance document adds files, and names the roles that may read some of them, with the
`readers` of a sacred scope. The path decides, in any letter case: no file is opened.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from .lazy_patterns import lazy_pattern
from .paths import fold

SecretKind = Literal["environment file", "vault", "credential file", "private key"]

_ENV: Final = lazy_pattern(r"\.env(rc)?(\..+)?|.+\.env")
# Suffixes of files that show the form without values, such as `.env.example`.
_FORM: Final = lazy_pattern(r".*\.(example|sample|template|dist)")
# Names, and names in a folder. Wildcards stay within one name.
_SECRETS: Final[tuple[tuple[SecretKind, tuple[str, ...]], ...]] = (
    ("environment file", ("proc/*/environ",)),
    ("vault", ("*.age", "*.kdbx", "*.kdb", "*.agilekeychain", ".vault-token", ".vault_pass*", "*.sops.yaml", "*.sops.json")),
    ("credential file", (
        ".netrc", "_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".pypirc", ".htpasswd", ".boto", ".s3cfg", "credentials.json",
        ".credentials.json", "client_secret*.json", "service-account*.json", "service_account*.json", "application_default_credentials.json",
        ".aws/credentials", ".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".codex/auth.json", ".gnupg/*", ".cargo/credentials*",
        ".gem/credentials", ".terraform.d/credentials.tfrc.json", "etc/shadow", "etc/gshadow",
    )),
    ("private key", (
        "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "*.key", "*.ppk", "*.p12", "*.pfx", "*.jks", "*.keystore",
        "*-key.pem", "*_key.pem", "key.pem", "privkey*.pem", "private*.pem", "*.p8",
    )),
)  # fmt: skip


def _compile(patterns: tuple[str, ...]) -> str:
    return "|".join(re.escape(each).replace(r"\*", "[^/]*") for each in patterns)


_KINDS: Final[Mapping[str, SecretKind]] = {f"k{number}": kind for number, (kind, _) in enumerate(_SECRETS)}
_NAMED: Final = lazy_pattern(
    "(?:^|/)(?:"
    + "|".join(f"(?P<k{number}>{_compile(each)})" for number, (_, each) in enumerate(_SECRETS))
    + r")\Z"
)


def find_secret_kind(path: str) -> SecretKind | None:
    """The kind of a secret file; None for every other file.

    >>> find_secret_kind("web/.ENV.local"), find_secret_kind(".env.example"), find_secret_kind("~/.aws/credentials")
    ('environment file', None, 'credential file')
    """
    names = [fold(name) for name in path.split("/") if name not in ("", ".")]
    if not names:
        return None
    if _ENV.fullmatch(names[-1]) and not _FORM.fullmatch(names[-1]):
        return "environment file"
    match = _NAMED.search("/".join(names))
    return None if match is None or match.lastgroup is None else _KINDS[match.lastgroup]
