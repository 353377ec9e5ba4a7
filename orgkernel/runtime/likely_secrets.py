"""Finds probable secrets to mask before text is written. `secret_shapes` finds certain ones.

A key is recognized by the published prefix of its issuer (`token_shapes`), regardless of its length. A password is
recognized by the text before it (`password=`, `PGPASSWORD=`, `--password`, `"api_key":`, `https://user:…@`,
`Authorization:`). Masking too much costs only a word of a report, so the value of an assignment is masked unless it
looks like code, a placeholder or a word of prose.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from .lazy_patterns import lazy_pattern
from .token_shapes import find_masked


class LikelySecret(NamedTuple):
    """A probable secret: its place, its kind, and the number of its first characters that may be shown."""

    start: int
    end: int
    what: str = "a secret"
    shown: int = 0


_SHOWN: Final = 4
_END: Final = 2**62
"""The end of every text."""
_IN_ADDRESS: Final = tuple(
    lazy_pattern(
        rf"[A-Za-z][A-Za-z0-9+.-]{{1,30}}://[^\s/:@\"'`<>]{{0,200}}:([^\s{sign}\"'`<>]{{1,200}})@[\w\[%]"
    )
    for sign in "/@"
)
_LOGIN_IN_ADDRESS: Final = lazy_pattern(r"""://[^\s/:@"'`]{0,200}:[^\s"'`]{1,200}@""")
_PORT: Final = lazy_pattern(r"[0-9]{1,5}(?:/|\Z)")
_WEBHOOK: Final = lazy_pattern(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks/[0-9]+)/([A-Za-z0-9/_-]{16,200})"
)

# Names of what is assigned, by how sure it is that the value is a secret.
_PASSWORD: Final = (
    r"pass[-_ ]?(?:word|phrase|code)|passwd|passwort|kennwort|contrase(?:ñ|n)a|mot de passe|senha"
    r"|(?<![a-z])(?:pwd|pass|pw)|mysql_pwd|rediscli_auth|sshpass"
)
_KEY: Final = (
    r"(?:api|access|secret|private|auth|account|encryption|signing|master|service[-_ ]?role)[-_ .]?key|client[-_ ]?secret"
    r"|(?:access|auth|refresh|id|api|bearer|session|bot|personal|security|deploy|oauth)[-_ .]?token"
)
_LOOSE: Final = r"(?<![a-z])(?:secret|token|credentials?|sig|signature|x-amz-signature)"
_NAMES: Final = lazy_pattern(
    rf"(?i:(?P<password>{_PASSWORD})|(?P<key>{_KEY})|(?P<loose>{_LOOSE}))(?:s|_value|value)?"
)
_VALUE: Final = (
    r"""(?:(?P<quote>\\?["'`])(?P<quoted>(?:(?!(?P=quote)).){1,400})(?P=quote)|(?P<bare>[^\s"'`\\]{1,400}))"""
)
# The characters between a name and its value.
_ASSIGNED: Final = lazy_pattern(
    rf"""\\?["'`\]]{{0,2}}(?P<op>\s{{0,5}}(?::=|=>|[=:])(?![=~:])\s{{0,5}}){_VALUE}"""
)
_OPTION: Final = lazy_pattern(rf"(?P<op>\s{{1,3}})(?!-){_VALUE}")
_SENTENCE: Final = lazy_pattern(
    rf"(?P<op>\s{{1,3}}(?i:(?:is|was|ist|lautet|es|est|set to|changed to)\s{{1,3}})?){_VALUE}"
)
_DASHES: Final = lazy_pattern(r"(?<![\w-])--?[A-Za-z0-9-]{0,30}\Z")
_LOGIN: Final = lazy_pattern(r"\blogin\s{1,3}\S{1,100}\s{1,3}password\s{1,3}(\S{1,200})")
_SQL: Final = lazy_pattern(r"(?i:identified\s{1,3}by|password)\s{1,3}'([^'\n]{1,200})'")
_USER: Final = lazy_pattern(
    r"""(?<![\w-])(?:-u|--user|--proxy-user|-U)[ =]{1,3}["']?[\w.@-]{1,60}:([^\s"']{1,200})"""
)
_SHORT: Final = lazy_pattern(
    r"""\b(?:mysql\w*|mariadb\w*|sshpass|mongo\w*)\b[^\n]{0,200}?\s-p ?["']?([^\s"'-][^\s"']{0,200})"""
)
_HEADER: Final = lazy_pattern(
    r"""(?i:(?:proxy-)?authorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)(?:(?i:(bearer|basic|token|apikey|digest|negotiate))\s{1,3})?([^\s"'\\,]{4,4000})"""
)
_BEARER: Final = lazy_pattern(r"\b(?i:bearer)\s{1,3}([A-Za-z0-9+/_.~-]{12,4000}={0,2})")
_COOKIE: Final = lazy_pattern(
    r"""(?i:\b(?:set-)?cookie)\\?["']?\s{0,3}:\s{0,3}\\?["']?([\w.-]{1,60}=[^\r\n"']{4,2000})"""
)

_REFERENCE: Final = lazy_pattern(
    r"\$[A-Za-z_]\w*\Z|\$[{(]|\$\$|\{\{|\{[\w.\[\]]*\}\Z|<[^<>]*>?\Z|%[\w(]|\*+\Z|[xX•.…*#_-]{3,}\Z|\[[A-Za-z _-]+\]\Z|.*(?:\.\.\.|…)\Z"
    r"|!\w+ |!(?:vault|secret|env)\b|\[(?:an?|the)\Z|(?:process\.)?env\b|ENC\[|vault:|op://|arn:|file:|/run/secrets"
)
_CODE: Final = lazy_pattern(
    r"[A-Za-z_][\w.]*[(\[{]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|f?[\"']|[a-z_]*(?:pass(?:word|wd|phrase)?|pwd|secret|token|key|cred)[A-Za-z_]*\Z"
    r"|[A-Z][a-z]+[A-Z]\w*\[|(?:&|\*)?(?:str|String|string|char|bytes)\b|Secret[A-Z]\w*\Z|\(lambda"
)
_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "ask",
        "at",
        "auth",
        "auto",
        "be",
        "below",
        "bool",
        "boolean",
        "both",
        "but",
        "by",
        "bytes",
        "can",
        "change",
        "changeme",
        "char",
        "checked",
        "click",
        "default",
        "dict",
        "disabled",
        "do",
        "does",
        "each",
        "either",
        "else",
        "empty",
        "enabled",
        "enter",
        "entered",
        "expired",
        "false",
        "field",
        "float",
        "for",
        "forgot",
        "forgotten",
        "from",
        "generate",
        "generated",
        "given",
        "has",
        "have",
        "header",
        "hidden",
        "how",
        "if",
        "in",
        "incorrect",
        "input",
        "int",
        "integer",
        "invalid",
        "is",
        "it",
        "its",
        "just",
        "key",
        "less",
        "list",
        "lock",
        "locked",
        "login",
        "long",
        "lost",
        "masked",
        "may",
        "minimum",
        "missing",
        "more",
        "must",
        "my",
        "need",
        "needed",
        "never",
        "new",
        "nil",
        "no",
        "none",
        "not",
        "note",
        "null",
        "number",
        "object",
        "of",
        "ok",
        "on",
        "only",
        "optional",
        "or",
        "our",
        "password",
        "passwd",
        "please",
        "policy",
        "prompt",
        "read",
        "redacted",
        "required",
        "reset",
        "rotated",
        "same",
        "secret",
        "secretstr",
        "see",
        "set",
        "should",
        "show",
        "since",
        "so",
        "some",
        "stored",
        "str",
        "string",
        "strong",
        "test",
        "text",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "token",
        "too",
        "true",
        "try",
        "type",
        "undefined",
        "unknown",
        "unset",
        "update",
        "updated",
        "use",
        "used",
        "user",
        "username",
        "using",
        "valid",
        "value",
        "varchar",
        "via",
        "wait",
        "was",
        "weak",
        "we",
        "what",
        "when",
        "where",
        "which",
        "who",
        "will",
        "with",
        "without",
        "wrong",
        "yes",
        "you",
        "your",
    ]
)
_METHODS: Final = lazy_pattern(
    r"(?i:sha|md|base|utf|bcrypt|argon|pbkdf|scrypt|hs|rs|es|aes|rsa|v|oauth|id|s|p|level|step)[-_]?[0-9]{1,4}(?:[-_][a-z]+)?s?\Z"
)
_NEXT: Final = lazy_pattern(r"[;&|,](?=[\w \-\[]*=|\s|\Z)")
_FIELD: Final = lazy_pattern(r"[a-z]+(?:_[a-z0-9]+)+\Z|\{")
_ORDINARY: Final = (
    "primary", "foreign", "sort", "partition", "cache", "next", "page", "continuation", "cursor", "sync", "cancel", "cancellation",
    "stop", "pad", "mask", "eos", "bos", "did:", "max", "min", "input", "output", "prompt", "total", "public", "no", "per", "count",
    "num",
)  # fmt: skip
_SEPARATORS: Final = (" ", "_", ".", "-")
_MAX_ORDINARY_LENGTH: Final = 20
"""Number of characters before a name that are searched for the name of an ordinary key."""
_HINTS: Final = (
    "pass", "pwd", "pw", "kennwort", "contrase", "senha", "key", "secret", "token", "credential", "sig",
    "rediscli_auth",
)  # fmt: skip
_LONG: Final = lazy_pattern(r"[A-Za-z0-9_.-]{14}")
# A token of an issuer that no table has: a short prefix, and much that is random.
_OTHER: Final = lazy_pattern(
    r"(?<![A-Za-z0-9_./+-])[A-Za-z][A-Za-z0-9]{1,9}(?:[_-][a-z]{1,8}){0,2}[_-]([A-Za-z0-9_-]{30,400})(?![A-Za-z0-9_/+=])"
)


def is_secret_name(name: str) -> bool:
    """Whether the value of this JSON key or argument is always a secret, regardless of its form."""
    match = re.search(rf"(?i:(?:{_PASSWORD}|{_KEY}|client[-_]?secret))(?:s|_value)?\Z", name)
    return match is not None


def find_likely(text: str) -> Iterator[LikelySecret]:
    """All probable secrets, in no particular order."""
    if _LONG.search(text):
        for start, end, what in find_masked(text):
            yield LikelySecret(start, end, what, _SHOWN)
        for other in _OTHER.finditer(text):
            if _is_token(other[1]):
                yield LikelySecret(other.start(), other.end(), "a token", _SHOWN)
    yield from find_likely_values(text, ((0, len(text)),))


def find_likely_values(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[LikelySecret]:
    """The probable secrets that are recognized by the text before them. Those whose name is directly before them are
    looked for in the spans only.
    """
    # Most texts hold no secret. Each pattern is tried only if a word that it needs is in the text.
    lower = text.lower()
    if may_hold_login(text):
        for pattern in _IN_ADDRESS:
            yield from _find_in_group(pattern, text)
    if "webhook" in lower or "hooks." in lower:
        yield from _find_in_group(_WEBHOOK, text)
    for start, end in spans:
        near = text[start:end].lower()
        if any(hint in near for hint in _HINTS):
            yield from _find_named(text, start, end)
        if "'" in near and ("identified" in near or "password" in near):
            yield from _find_in_group(_SQL, text, start, end)
    if "login" in lower:
        yield from _find_in_group(_LOGIN, text)
    if "-u" in lower:
        yield from _find_in_group(_USER, text)
    if " -p" in text:
        yield from _find_in_group(_SHORT, text)
    if "cookie" in lower:
        yield from _find_in_group(_COOKIE, text)
    if "authorization" in lower:
        for match in _HEADER.finditer(text):
            if not _is_plain(match[2]) and (match[1] or _is_mixed(match[2])):
                yield LikelySecret(match.start(2), match.end(2))
    if "bearer" in lower:
        for match in _BEARER.finditer(text):
            if _is_mixed(match[1]):
                yield LikelySecret(match.start(1), match.end(1))


def ends_in(text: str, words: tuple[str, ...]) -> bool:
    """Whether a text ends in one of some words, with at most one separator after it."""
    return text.endswith(words) or (text[-1:] in _SEPARATORS and text[:-1].endswith(words))


def may_hold_login(text: str) -> bool:
    """A quick test: whether a text could contain an address with a user and a password."""
    return "@" in text and "://" in text and _LOGIN_IN_ADDRESS.search(text) is not None


def _is_token(value: str) -> bool:
    """Whether capitals, small letters and digits alternate, which ordinary words never do."""
    kinds = ["A" if each.isupper() else "a" if each.islower() else "0" for each in value if each.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds))
    return len(set(kinds)) == 3 and 3 * changes > len(kinds)


def _find_in_group(
    pattern: re.Pattern[str], text: str, start: int = 0, end: int = _END
) -> Iterator[LikelySecret]:
    for match in pattern.finditer(text, start, end):
        if not _is_plain(match[1]):
            yield LikelySecret(match.start(1), match.end(1))


def _is_plain(value: str) -> bool:
    """Whether the value is a placeholder, a reference to a variable, a port or a word of prose."""
    return (
        _REFERENCE.match(value) is not None
        or (_PORT.match(value) is not None and not value.isdigit())
        or value.strip(".,;:!?)]}>`|").lower() in _WORDS
    )


def _find_named(text: str, start: int, end: int) -> Iterator[LikelySecret]:
    """The values that follow a name in a span."""
    for name in _NAMES.finditer(text, start, end):
        match = _ASSIGNED.match(text, name.end())
        way = "assigned"
        if match is None and text[name.start() - 1 : name.start()].isascii():
            way = "option" if _DASHES.search(text[max(0, name.start() - 33) : name.start()]) else "sentence"
            match = (_OPTION if way == "option" else _SENTENCE).match(text, name.end())
        if match is None:
            continue
        quoted = match["quoted"] is not None
        at = match.start("quoted" if quoted else "bare")
        value = match["quoted"] if quoted else match["bare"].rstrip(".,;:!?)]}>|")
        if not quoted:
            # `password=…&user=…`, `Password=…;Database=…`
            value = _NEXT.split(value, maxsplit=1)[0]
        if value and _is_secret(way, name, match, text, value):
            yield LikelySecret(at, at + len(value))


def _is_secret(way: str, name: re.Match[str], match: re.Match[str], text: str, value: str) -> bool:
    quoted, op = match["quoted"] is not None, match["op"].strip()
    if _REFERENCE.match(value) or value.lower() in _WORDS or (not quoted and _CODE.match(value)):
        return False
    # A primary key or a next-page token is not a secret.
    if ends_in(text[max(0, name.start() - _MAX_ORDINARY_LENGTH) : name.start()].lower(), _ORDINARY):
        return False
    if way == "option" and value.isupper() and value.isalpha():
        return False  # `--password FILE` in the usage of a command
    if name["password"] is None:
        # Behind `?` or `&` is a parameter of an address, and never prose.
        in_query = name.start() > 0 and text[name.start() - 1] in "?&"
        return in_query or _is_key(way, name, value, quoted, op)
    # Short names are also words and abbreviations ("pass 3"), so their values must look like passwords.
    short = name["password"].lower() in ("pass", "pw", "pwd")
    if way == "sentence":
        if short:
            return False
        if quoted:
            return " " not in value and len(value) >= 4 and (bool(op) or _is_mixed(value))
        return _is_strong(value) and not _METHODS.match(value) and not _FIELD.match(value)
    if quoted:
        words = value.split()
        if op == ":" and len(words) > 1:
            return len(words) <= 8 and not _WORDS.intersection(map(str.lower, words))
        return len(value) >= 3
    if short and (op == ":" or value.isdigit()):
        return _is_strong(value)
    if op != ":":
        return len(value) >= 3
    if _is_strong(value) or (value.isdigit() and len(value) >= 4):
        return not _METHODS.match(value)
    # `password: changed by the admin` is prose: a value that is followed by more words is part of a sentence.
    end = match.start("bare") + len(value)
    after = text[end : end + 1]
    ends = (
        after in ("", ",", ";", '"', "'", ")", "}", "|", "&", "\n", "\r") or not text[end : end + 400].strip()
    )
    return ends and len(value) >= 4 and not value.lower().endswith("ed") and value.count("-") != 1


def _is_key(way: str, name: re.Match[str], value: str, quoted: bool, op: str) -> bool:
    """Whether the value after a name such as key or token looks like a key."""
    if any(character.isspace() for character in value) or _METHODS.match(value):
        return False
    if way == "sentence":
        return _is_mixed(value) and len(value) >= 12 and not _FIELD.match(value)
    if name["key"] is not None:
        return (
            (_is_mixed(value) and len(value) >= 6)
            or (len(value) >= 16 and not value.isdigit())
            or (quoted and len(value) >= 8 and not value.isdigit())
        )
    if name["loose"].lower().endswith("secret") and op == "=":
        return len(value) >= 6 and not value.isdigit()
    parts = re.split(r"[-_./:]", value)
    return len(value) >= 8 and any(len(part) >= 5 and _is_mixed(part) for part in parts)


def _is_mixed(value: str) -> bool:
    """Whether the value has letters and digits."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_strong(value: str) -> bool:
    """Whether the value looks like a password: with digits, signs, or capitals inside a word."""
    if len(value) < 4 or "://" in value or value.startswith("/"):
        return False
    letters = any(map(str.isalpha, value))
    signs = re.search(r"[!@#$%^&*+?~]", value[:-1]) is not None
    inner = re.search(r"[a-z][A-Z]", value) is not None and value[:1].islower()
    return letters and (any(map(str.isdigit, value)) or signs or inner)
