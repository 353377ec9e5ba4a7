"""What is masked before anything is written, and what is left of prose and code."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from orgkernel.runtime.likely_secrets import is_secret_name
from orgkernel.runtime.secret_shapes import mask_secrets
from tests.support.trees import REPOSITORY

BODY = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
"""In the place of what is random in a key."""
KEYS = [
    *(f"{prefix}{BODY}" for prefix in (
        "sk-or-v1-", "sk-ant-api03-", "sk-proj-", "sk-svcacct-", "sk-", "gsk_", "hf_", "xai-", "AIzaSy", "ya29.", "pplx-", "r8_",
        "nvapi-", "tvly-", "fw_", "lsv2_pt_", "ghp_", "gho_", "github_pat_11A_", "glpat-", "glrt-", "xoxb-1-", "xapp-1-", "npm_",
        "pypi-AgEI", "hvs.", "dckr_pat_", "shpat_", "sk_live_", "rk_test_", "whsec_", "figd_", "tskey-auth-", "glsa_", "sbp_",
        "FwoGZXIvYXdz", "IQoJb3JpZ2lu", "GOCSPX-",
    )),
    f"sk-or-v1-{'0123456789abcdef' * 4}",
    "AKIAQ2W3E4R5T6Y7U8I9",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:12])
def test_the_key_of_every_issuer_is_masked(key: str) -> None:
    """By its prefix, wherever it stands and whatever its length; the prefix may be seen."""
    for text in (key, f"use {key}.", f"KEY={key}", f'{{"k": "{key}"}}', f"https://x.example/?k={key}&b=1"):
        masked = mask_secrets(text)
        assert key[10:26] not in masked, text
        assert len(masked) == len(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"), ("password=swordfish", "swordfish"), ("PASSWORD = 'sword fish'", "sword fish"),
        ("passwd: swordfish", "swordfish"), ("passwd: hunter2 and then", "hunter2"), ("PGPASSWORD=swordfish psql -h db", "swordfish"),
        ("mysql --password swordfish", "swordfish"), ("--password=swordfish x", "swordfish"), ("--api-key 12ab34cd", "12ab34cd"),
        ('{"api_key": "abc123def456"}', "abc123def456"), ('{"password": "swordfish"}', "swordfish"), ("{'password': 'correct horse'}", "correct horse"),
        ('"{\\"password\\": \\"swordfish\\"}"', "swordfish"), ("my password is hunter2", "hunter2"), ("the password is 'swordfish'", "swordfish"),
        ("Mein Passwort ist geheim123", "geheim123"), ("log in as bob, password hunter2", "hunter2"), ("DB_PASS=swordfish", "swordfish"),
        ("Server=x;User Id=sa;Password=swordfish;Encrypt=yes", "swordfish"), ("AccountKey=abcd1234+/==;", "abcd1234+/=="),
        ("mysql -u root -phunter2 db", "hunter2"), ("sshpass -p swordfish ssh x", "swordfish"), ("machine x login bob password swordfish", "swordfish"),
        ("curl -u bob:hunter2 https://x", "hunter2"), ("curl -H 'X-API-Key: abc123def' x", "abc123def"), ("secret=swordfish", "swordfish"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY"),
        ("client_secret: 8f3b2c1d", "8f3b2c1d"), ("https://x.example/?api_key=abcdef&x=1", "abcdef"), ("IDENTIFIED BY 'swordfish'", "swordfish"),
        ("postgres://user:hunter2@db.example.com/x", "hunter2"), ("redis://:p@ssw0rd@localhost:6379", "p@ssw0rd"),
        ("mysql://root:pa/ss@h/db", "pa/ss"), ("https://user:1234@example.com", "1234"), ("Authorization: Bearer abcdef", "abcdef"),
        ("'Authorization': 'Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"), ("authorization: token 0a1b2c3d", "0a1b2c3d"),
        ("Cookie: session=abcdef123", "session=abcdef123"), ("https://discord.com/api/webhooks/12345/abcdefghijklmnopqrst", "abcdefghijklmnopqrst"),
    ],
)  # fmt: skip
def test_an_assigned_password_is_masked(text: str, secret: str) -> None:
    """However it is assigned, and nothing else of the text."""
    assert mask_secrets(text) == text.replace(secret, "*" * len(secret))


@pytest.mark.parametrize(
    "text",
    [
        "the password is checked", "The password is required.", "Enter your password: ", "password: str", "password: Optional[str] = None",
        "password = get_password()", "password=password", "password=self.password", "api_key=os.environ['X']", "token = tokens[i]",
        "max_tokens=4096", "max_tokens: 4096", "token: int = 3", "if password == other:", '{"password": {"type": "string"}}', 'type="password"',
        "password: minimum length 8", "the password is 8 characters long", "password is base64 encoded", "password is hashed with sha256",
        "The API key is in the vault", "token_count: 500", "a secret: nobody knows", "the secret is out", "pass: 3, fail: 2", "first pass: parse it",
        "authorization: required", "http://localhost:8080/path@x", "primary_key=abc123def", "password: the one we use", "password=${PASSWORD}",
        "password=$PASSWORD", "password: <your-password>", "--password $PW", "--token <token>", "--password FILE", "sk-learn is a library",
        "use a password manager", "The token is a JWT", "compass=5", "rotate the api key every 90 days", "keys=5", "key=lambda x: x",
        "password_file=/run/secrets/db", "auth_token = request.headers['x']", 'password=""', "password=None", "forgot password? click here",
        "Bearer token authentication", "the cookie: a small text", "the private key: a PEM file", "git commit -p file", "Send `Authorization: Bearer KEY`.",
        "{'password': 'The password of the user'}", "a passing test, a key question and a token gesture", "Setze das Passwort zurück",
    ],
)  # fmt: skip
def test_prose_and_code_are_left_alone(text: str) -> None:
    """Sentences about passwords, declarations, references to variables, placeholders."""
    assert mask_secrets(text) == text


def test_few_lines_of_prose_and_code_are_touched() -> None:
    """In our documentation and in the modules of Python that speak of passwords: fewer than one in a thousand."""
    library = Path(os.__file__).parent
    names = ("smtplib.py", "imaplib.py", "ftplib.py", "netrc.py", "getpass.py", "tokenize.py", "hmac.py", "urllib/request.py", "poplib.py", "argparse.py")  # fmt: skip
    files = [*(library / name for name in names), *(REPOSITORY / "docs").glob("*.md")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    touched = [line for line in lines if mask_secrets(line) != line]
    assert len(touched) * 1_000 < len(lines), touched


@pytest.mark.parametrize(
    "text",
    ["password=", "-u a:", "--api-key ", 'password: "', "password is ", "mysql -p", "sk-", "://", "a://b:", "key-", "password" + " " * 400],
    ids=repr,
)  # fmt: skip
def test_a_hostile_text_is_masked_in_time(text: str) -> None:
    """What grows with the square takes minutes."""
    started = time.process_time()
    mask_secrets(text * (60_000 // len(text)))
    assert time.process_time() - started < 10


def test_what_has_the_name_of_a_password_is_one_whatever_it_looks_like() -> None:
    """Keys of JSON and arguments of calls."""
    assert all(
        map(is_secret_name, ("password", "db_password", "api_key", "apiKey", "client_secret", "PGPASSWORD"))
    )
    assert not any(
        map(is_secret_name, ("key", "primary_key", "password_policy", "tokens", "passes", "subject"))
    )
