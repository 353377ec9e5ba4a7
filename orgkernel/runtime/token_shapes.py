"""The forms of tokens, by issuer. One table is used both to refuse a token in a file and to mask one before it is
written.

A refused token has the length that its issuer publishes. A masked token can be shorter, because part of a token is
still confidential, and masking too much costs only a word of a report.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from .lazy_patterns import lazy_pattern


class TokenShape(NamedTuple):
    """The token of an issuer. In its patterns, `W{` is a letter, digit, `_` or `-`, and `D` requires a digit among
    them.
    """

    what: str
    marks: tuple[str, ...]
    """Substrings, one of which every text with such a token contains. Other texts are skipped."""
    refused: str
    """Pattern for refusing. Empty for tokens that are only masked, because other values have the same form."""
    masked: str
    """Pattern for masking. Empty if it would be the same, or if another row masks the token."""


_KEY: Final = "PRIVATE KEY"
_END: Final = "(?![A-Za-z0-9_-])"
# The hashes of htpasswd and of /etc/shadow: MD5, bcrypt, SHA-256 and SHA-512, yescrypt, SHA-1.
_CRYPT: Final = (
    r"\$(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}"
    r"|\$[56]\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}|\$y\$[./A-Za-z0-9]{2,6}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
    r"|\{SS?HA\}[A-Za-z0-9+/]{27,60}={0,2}"
)
TOKEN_SHAPES: Final = (
    TokenShape("an AWS access key id", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}"),
    TokenShape("an AWS session token", ("GZXIvYXdz", "JpZ2lu", "AQoDYXdz"), r"(?:FwoGZXIvYXdz|FQoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9/+=]{100,}", r"(?:FwoGZXIvYXdz|FQoGZXIvYXdz|IQoJb3JpZ2lu|AQoDYXdz)[A-Za-z0-9/+=_-]{20,}"),
    TokenShape("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{82}", r"gh[pousr]_W{16,}|github_pat_W{16,}"),
    TokenShape("a GitLab token", ("glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glwt-", "glsoat-", "glffct-"), r"glpat-[A-Za-z0-9_.-]{20,}|gl(?:dt|rt|ptt|ft|imt|agent|soat)-DW{20,}", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|soat|ffct)-[A-Za-z0-9_.-]{16,}"),
    TokenShape("an Anthropic key", ("sk-",), r"sk-ant-[a-z]{3,6}[0-9]{2}-W{80,}", ""),
    TokenShape("an OpenRouter key", ("sk-",), r"sk-or-v1-[0-9a-f]{64}", ""),
    TokenShape("an OpenAI key", ("sk-",), r"sk-W{20,}T3BlbkFJW{20,}", ""),
    TokenShape("a key of a model provider", ("sk-", "sk_"), "", r"sk-(?:or-v1|or|ant|proj|svcacct|admin|lf|litellm)-W{12,}|sk-DW{18,}|sk_DW{24,}"),
    TokenShape("a Groq key", ("gsk_",), r"gsk_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{40,}(?![A-Za-z0-9_])", r"gsk_W{20,}"),
    TokenShape("an xAI key", ("xai-",), rf"xai-[A-Za-z0-9]{{70,90}}{_END}", r"xai-DW{20,}"),
    TokenShape("a Perplexity key", ("pplx-",), rf"pplx-D[A-Za-z0-9]{{48}}{_END}", r"pplx-W{20,}"),
    TokenShape("a Replicate token", ("r8_",), rf"r8_D[A-Za-z0-9]{{37}}{_END}", r"r8_W{20,}"),
    TokenShape("an NVIDIA key", ("nvapi-",), rf"nvapi-DW{{60,70}}{_END}", r"nvapi-W{20,}"),
    TokenShape("a Google API key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", r"AIzaW{28,}"),
    TokenShape("a Google token", ("AQ.", "ya29.", "GOCSPX-"), rf"GOCSPX-W{{28}}{_END}|ya29\.DW{{60,}}", r"AQ\.W{24,}|ya29\.W{20,}|GOCSPX-W{16,}"),
    TokenShape("a Hugging Face token", ("hf_",), r"hf_(?=[a-z]*[A-Z])[A-Za-z]{34}(?![A-Za-z0-9_])", r"hf_W{20,}"),
    TokenShape("a LangSmith key", ("lsv2_",), rf"lsv2_[a-z]{{2}}_[0-9a-f]{{32}}_[0-9a-f]{{10}}{_END}", r"lsv2_[a-z]{2}_W{20,}"),
    TokenShape("an E2B key", ("e2b_",), rf"e2b_[0-9a-f]{{40}}{_END}", r"e2b_W{20,}"),
    TokenShape("a key of a tool", ("tvly-", "fw_", "csk-", "jina_", "fc-", "rpa_", "BSA"), "", r"tvly-DW{16,}|fw_DW{20,}|csk-W{20,}|jina_W{20,}|fc-[0-9a-f]{24,}|rpa_W{20,}|BSADW{24,}"),
    TokenShape("a Slack token", ("xox", "xapp-"), r"(?:xox[a-z]|xapp)-(?=[A-Za-z-]*[0-9])[A-Za-z0-9-]{20,}", r"xox[a-z](?:\.xox[a-z])?-DW{10,}|xapp-DW{10,}"),
    TokenShape("a Slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,}", ""),
    TokenShape("a Stripe key", ("k_live_", "k_test_"), r"[sr]k_(?:live|test)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{10,99}(?![A-Za-z0-9_])", r"[spr]k_(?:live|test)_W{10,}"),
    TokenShape("a webhook secret", ("whsec_",), rf"whsec_D[A-Za-z0-9+/]{{32,}}={{0,2}}{_END}", r"whsec_[A-Za-z0-9+/=_-]{16,}"),
    TokenShape("a Shopify token", ("shpat_", "shpca_", "shppa_", "shpss_"), rf"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}{_END}", r"shp(?:at|ca|pa|ss)_W{20,}"),
    TokenShape("a Square token", ("sq0",), rf"sq0(?:atp-W{{22}}|csp-W{{43}}){_END}", r"sq0[a-z]{3}-W{20,}"),
    TokenShape("a SendGrid key", ("SG.",), r"SG\.[A-Za-z0-9=_.-]{66}(?![A-Za-z0-9_-])", r"SG\.W{16,}\.W{16,}"),
    TokenShape("a Mailgun key", ("key-",), rf"key-[0-9a-f]{{32}}{_END}", r"key-[0-9a-f]{32}"),
    TokenShape("a Twilio key", ("SK",), rf"SK[0-9a-f]{{32}}{_END}", r"SK[0-9a-f]{32}"),
    TokenShape("an npm token", ("npm_",), r"npm_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{36}(?![A-Za-z0-9_])", r"npm_DW{20,}"),
    TokenShape("a PyPI token", ("pypi-",), r"pypi-W{50,}", r"pypi-AgW{20,}"),
    TokenShape("a RubyGems key", ("rubygems_",), rf"rubygems_[0-9a-f]{{48}}{_END}", r"rubygems_W{20,}"),
    TokenShape("a Docker Hub token", ("dckr_",), rf"dckr_[po]at_DW{{27,32}}{_END}", r"dckr_[po]at_W{16,}"),
    TokenShape("a DigitalOcean token", ("dop_", "doo_", "dor_"), r"do[opr]_v1_[0-9a-f]{64}", r"do[opr]_v1_W{20,}"),
    TokenShape("an Alibaba key id", ("LTAI",), rf"LTAID[A-Za-z0-9]{{20}}{_END}", r"LTAI[A-Za-z0-9]{12,}"),
    TokenShape("a Databricks token", ("dapi",), rf"dapi[0-9a-f]{{32}}(?:-[0-9])?{_END}", r"dapi[0-9a-f]{32}"),
    TokenShape("a Supabase key", ("sbp_", "sb_secret_"), rf"sbp_[0-9a-f]{{40}}{_END}|sb_secret_DW{{31,}}", r"sbp_W{20,}|sb_secret_W{16,}"),
    TokenShape("a Notion token", ("ntn_", "secret_"), rf"ntn_[0-9]{{11}}[A-Za-z0-9]{{35}}{_END}|secret_D[A-Za-z0-9]{{43}}{_END}", r"ntn_W{20,}|secret_[A-Za-z0-9]{32,}"),
    TokenShape("a Linear key", ("lin_api_",), rf"lin_api_D[A-Za-z0-9]{{40}}{_END}", r"lin_api_W{20,}"),
    TokenShape("a Figma token", ("figd_",), rf"figd_DW{{40}}{_END}", r"figd_W{20,}"),
    TokenShape("an Airtable token", ("pat",), rf"pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}{_END}", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{20,}"),
    TokenShape("a Postman key", ("PMAK-",), rf"PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}}{_END}", r"PMAK-W{20,}"),
    TokenShape("an Atlassian token", ("TT3x",), r"AT[AC]TT3xDW{100,}", r"AT[AC]TT3xW{20,}"),
    TokenShape("a New Relic key", ("NRAK-",), rf"NRAK-[A-Z0-9]{{27}}{_END}", r"NRAK-W{20,}"),
    TokenShape("a Doppler token", ("dp.",), rf"dp\.[a-z]{{2,5}}\.(?:[a-z0-9_-]{{2,35}}\.)?[A-Za-z0-9]{{40,44}}{_END}", r"dp\.[a-z]{2,5}\.[A-Za-z0-9.]{20,}"),
    TokenShape("a Grafana token", ("glsa_",), rf"glsa_[A-Za-z0-9]{{32}}_[0-9a-fA-F]{{8}}{_END}", r"glsa_W{20,}"),
    TokenShape("a Sentry token", ("sntry",), r"sntryu_[0-9a-f]{64}|sntrys_eyJ[A-Za-z0-9+/=_-]{80,}", r"sntry[su]_W{20,}"),
    TokenShape("a PostHog key", ("phc_", "phx_"), rf"phx_D[A-Za-z0-9]{{43,}}{_END}", r"ph[cx]_W{24,}"),
    TokenShape("a Tailscale key", ("tskey-",), r"tskey-[a-z]+-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}", r"tskey-[a-z]+-W{10,}"),
    TokenShape("a Discord bot token", ("MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"), rf"[MNO][DTjz][A-Za-z0-9_-]{{21,27}}\.[A-Za-z0-9_-]{{6}}\.W{{27,45}}{_END}", ""),
    TokenShape("a Discord webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/W{60,}", ""),
    TokenShape("a Mailchimp key", ("-us",), r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9_-])", ""),
    TokenShape("an Azure account key", ("AccountKey=",), r"AccountKey=[A-Za-z0-9+/]{86}==", r"AccountKey=[A-Za-z0-9+/]{20,}={0,2}"),
    TokenShape("an Azure access key", ("SharedAccessKey=",), r"SharedAccessKey=[A-Za-z0-9+/]{43}=", r"SharedAccessKey=[A-Za-z0-9+/]{20,}={0,2}"),
    TokenShape("an Azure client secret", ("Q~",), rf"[A-Za-z0-9_.~-]{{3}}[78]Q~[A-Za-z0-9_.~-]{{31,34}}{_END}", ""),
    TokenShape("a PlanetScale token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_(?=[A-Za-z_.-]*[0-9])[A-Za-z0-9_.=-]{32,64}", r"pscale_(?:tkn|pw|oauth)_W{16,}"),
    TokenShape("a Terraform token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.W{60,70}", r"[A-Za-z0-9]{10,14}\.atlasv1\.W{16,}"),
    TokenShape("a Facebook token", ("EAA",), "", r"EAA[A-Za-z0-9]{40,}"),
    TokenShape("a Vault token", ("hvs.", "hvb.", "hvr."), r"hv[bsr]\.W{90,}", r"hv[sbr]\.W{20,}"),
    TokenShape("an orgkernel key", ("orgk_",), r"orgk_W{43}(?![A-Za-z0-9_-])", r"orgk_W{20,}"),
    TokenShape("an age key", ("AGE-SECRET",), r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}", r"AGE-SECRET-KEY-1W{20,}"),
    TokenShape("a JSON web token", ("eyJ",), r"eyJW{14,}\.eyJW{14,}\.W{10,}", r"eyJW{10,}\.W{4,}\.[A-Za-z0-9_.-]{8,}"),
    TokenShape("a password hash", (":$", ":{SHA}", ":{SSHA}"), rf"[A-Za-z0-9@.][A-Za-z0-9@._-]*:(?:{_CRYPT})", ""),
    TokenShape("a private key", (_KEY,), r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,200}?[A-Za-z0-9+/]{40}[^-]{0,16000}", ""),
    TokenShape("a Telegram bot token", (":A",), r"[0-9]{5,16}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])", ""),
)  # fmt: skip

_PRIVATE_KEY: Final = next(shape for shape in TOKEN_SHAPES if _KEY in shape.marks)
_HASH: Final = next(shape for shape in TOKEN_SHAPES if ":$" in shape.marks)
_OUTSIDE_RUNS: Final = (_PRIVATE_KEY, _HASH)
"""The shapes with other characters than those of `_LONG`."""
_MIN_VARIETY: Final = 8
"""Minimum number of different characters in a token. A text with fewer is a placeholder (`ghp_xxxx…`)."""
SHORTEST_REFUSED: Final = 18
"""Minimum length of a refused token. All tokens except private keys and hashes consist of the characters of `_LONG`."""
_LONG: Final = b"a" * SHORTEST_REFUSED
_CLASSES: Final = bytes(
    97 if code < 128 and (chr(code).isalnum() or chr(code) in "_.+/=:~-") else 32 for code in range(256)
)
_REFUSED_MARKS: Final = tuple(
    dict.fromkeys(
        mark for shape in TOKEN_SHAPES if shape.refused and shape not in _OUTSIDE_RUNS for mark in shape.marks
    )
)
_RUN: Final = lazy_pattern(r"[A-Za-z0-9_-]{2,}[A-Za-z0-9_.+/=-]{12,}")


def find_runs(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text that could be a refused token other than a private key."""
    # One byte for each character, so places are the same. A search for fixed bytes is many times faster than a pattern.
    classes = text.encode("latin-1", "replace").translate(_CLASSES)
    end = 0
    while (start := classes.find(_LONG, end)) >= 0:
        end = classes.find(b" ", start)
        end = end if end >= 0 else len(text)
        run = text[start:end]
        if any(mark in run for mark in _REFUSED_MARKS):
            yield start, end


def find_refused(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """The private keys and hashes in a text, and the tokens in its runs that have the published length: start, end and kind of each."""
    for shape in _OUTSIDE_RUNS:
        if any(mark in text for mark in shape.marks):
            yield from _find_shape(shape, text, 0, len(text))
    for start, end in runs:
        run = text[start:end]
        for shape in TOKEN_SHAPES:
            if shape.refused and shape not in _OUTSIDE_RUNS and any(mark in run for mark in shape.marks):
                yield from _find_shape(shape, text, start, end)


def _find_shape(shape: TokenShape, text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    for match in _get_pattern("A-Za-z0-9_-", shape.refused).finditer(text, start, end):
        if _is_varied(match[0]):
            yield match.start(), match.end(), shape.what


def find_masked(text: str) -> Iterator[tuple[int, int, str]]:
    """Possible tokens, including shortened ones."""
    shapes = [each for each in TOKEN_SHAPES if each.masked and any(mark in text for mark in each.marks)]
    for run in _RUN.finditer(text) if shapes else ():
        for shape in shapes:
            for match in _get_pattern("A-Za-z0-9_", shape.masked).finditer(text, *run.span()):
                if _is_varied(match[0]):
                    yield match.start(), match.end(), shape.what


def _is_varied(token: str) -> bool:
    return len(set(token)) >= _MIN_VARIETY and not token.endswith("EXAMPLE")


@cache
def _get_pattern(before: str, shape: str) -> re.Pattern[str]:
    """The combined pattern. It is compiled on first use, because compiling all of them takes milliseconds."""
    shape = re.sub(r"D(?=W\{|\[)", r"(?=[A-Za-z_-]{0,80}[0-9])", shape)
    shape = re.sub(r"W(?=\{)", "[A-Za-z0-9_-]", shape)
    return re.compile(rf"(?<![{before}])(?:{shape})")
