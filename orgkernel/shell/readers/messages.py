"""Programs that send over the network: email, text messages, payments, and requests that delete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.catalog import find_provider, is_trial
from orgkernel.shell.marks import UNKNOWN, ShellWord, is_unclear
from orgkernel.shell.options import read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.files import is_own_root

_LOCAL: Final = lazy_pattern(
    r"^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|[\w-]+\.(localhost|test|local))$"
)
_WRITING: Final = frozenset({"POST", "PUT", "PATCH"})


def fill_folder(call: ProgramCall, folder: ShellWord) -> None:
    """Files with names that the server chooses, in a folder."""
    if call.owner(folder) == "foreign" and not is_own_root(folder.text):
        call.unread("cannot determine whether this overwrites files of another owner", folder)


def send(call: ProgramCall, url: ShellWord, method: str, *, sends_data: bool) -> None:
    """A request: a real message or payment, a deletion, or a read."""
    if is_unclear(url.text[: max(url.text.find("/", 9), 0) or len(url.text)]) and (
        method != "GET" or sends_data
    ):
        call.unread("where this request goes is not known until the command runs", url)
        return
    scheme, separator, rest = url.text.rpartition("://")
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2].lower()
    host = re.sub(r":\d*$", "", host)
    everything = " ".join(word.text for word in call.args)
    if scheme.startswith(("smtp", "smtps")):
        call.found("send_email", f"sends email through {quote(host)}", url)
        return
    method = method.upper()
    if method in ("GET", "HEAD", "OPTIONS"):
        return
    operation = find_provider(host, url.text)
    if operation:
        if not is_trial(everything):
            call.found(operation, f"sends a request to {quote(host)} that has real-world effects", url)
    elif method == "DELETE":
        if _LOCAL.match(host):
            call.unread(f"cannot determine what this deletes on {quote(host)}", url)
        else:
            call.found("delete_resource", f"deletes {quote(url.text)}", url)
    elif re.search(r"_delete_by_query|/_aliases/.*remove|/flush|/purge", url.text):
        call.found("unbounded_delete", "deletes what a query matches", url)
    elif method not in _WRITING or (not _LOCAL.match(host) and separator and not is_unclear(host)):
        if not re.search(r"/(graphql|_search|_count|search|query|token|oauth)\b", url.text):
            call.unread(f"cannot determine what this request changes at {quote(host)}", url)
    elif is_unclear(host):
        call.unread("where this request goes is not known until the command runs", url)


_CURL_VALUED: Final = "XHdFTouAbcCeEKmPQrtUwxyYzDh"
_CURL_LONGS: Final = (
    "request", "header", "data", "data-raw", "data-binary", "data-urlencode", "data-ascii", "form", "form-string", "upload-file",
    "output", "user", "user-agent", "cookie", "cookie-jar", "config", "max-time", "connect-timeout", "retry", "retry-delay",
    "url", "mail-from", "mail-rcpt", "proxy", "cacert", "cert", "key", "referer", "write-out", "json", "output-dir", "resolve",
    "interface", "range", "limit-rate", "oauth2-bearer", "unix-socket", "aws-sigv4", "dump-header", "max-redirs", "next_",
    "url-query", "variable", "retry-max-time", "connect-to", "noproxy", "ciphers", "tls-max", "quote", "stderr", "trace",
    "trace-ascii", "libcurl", "etag-save", "hsts", "alt-svc", "engine",
)  # fmt: skip


_CURL_LOGS: Final = (
    "D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl", "etag-save", "hsts", "alt-svc",
)  # fmt: skip


def _curl(call: ProgramCall) -> str:
    options = read_options(
        call.args,
        valued=_CURL_VALUED,
        long_valued=_CURL_LONGS,
        longs=("get", "head", "remote-name", "silent", "insecure"),
    )
    sends = options.has(
        "d",
        "F",
        "T",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "data-ascii",
        "form",
        "form-string",
        "upload-file",
        "json",
    )
    urls = [*options.operands, *options.all_values("url")]
    given = options.value("X", "request")
    if given is not None:
        method = given.text
    elif options.has("G", "get"):
        method = "GET"
    elif options.has("I", "head"):
        method = "HEAD"
    elif options.has("T", "upload-file"):
        method = "PUT"
    else:
        method = "POST" if sends else "GET"
    if options.has("K", "config"):
        call.unread("the options in this file are unknown", options.value("K", "config"))
    if options.has("Q", "quote"):
        call.unread("cannot determine what this command to the server does", options.value("Q", "quote"))
    if options.has("mail-rcpt", "mail-from") and urls:
        call.found("send_email", "sends email", urls[0])
        return UNKNOWN
    for url in urls:
        send(call, url, method, sends_data=sends)
    if options.has("engine"):
        call.unread("cannot determine what this engine runs")
    folder = options.value("output-dir")
    if folder is not None:
        fill_folder(call, folder)
    for target in options.all_values("o", "output", *_CURL_LOGS):
        call.reader.write(target, UNKNOWN, appends=False)
    return UNKNOWN


def _wget(call: ProgramCall) -> str:
    options = read_options(
        call.args, valued="OoaPUteTQwADRi", long_valued=(
            "output-document", "post-data", "post-file", "method", "body-data", "body-file", "header", "user", "password", "user-agent",
            "directory-prefix", "timeout", "tries", "input-file", "domains", "accept", "reject", "level", "execute", "output-file", "append-output",
            "use-askpass", "config",
        ),
    )  # fmt: skip
    sends = options.has("post-data", "post-file", "body-data", "body-file")
    method = options.value("method")
    for url in options.operands:
        send(call, url, method.text if method else ("POST" if sends else "GET"), sends_data=sends)
    for word in options.all_values("use-askpass", "config", "e", "execute"):
        if not re.fullmatch(r"(robots|check_certificate|timeout|tries|https?_proxy)\s*=.*", word.text):
            call.unread("cannot determine what this setting runs", word)
    for folder in options.all_values("P", "directory-prefix"):
        fill_folder(call, folder)
    for target in options.all_values("O", "output-document", "o", "output-file"):
        if target.text != "-":
            call.reader.write(target, UNKNOWN, appends=False)
    return UNKNOWN


def _httpie(call: ProgramCall) -> str:
    options = read_options(
        call.args,
        valued="aAopPs",
        long_valued=("auth", "auth-type", "output", "session", "timeout", "proxy", "style"),
    )
    words = list(options.operands)
    if options.has("offline"):
        return UNKNOWN
    method = ""
    if words and re.fullmatch(r"[A-Za-z]+", words[0].text) and len(words) > 1:
        method = words.pop(0).text.upper()
    items = words[1:]
    sends = any(re.search(r"[^=:]:?=[^=]|@", word.text) and "==" not in word.text for word in items) or bool(
        (call.stdin or "").strip()
    )
    if words:
        send(call, words[0], method or ("POST" if sends else "GET"), sends_data=sends)
    return UNKNOWN


READERS: Final[Mapping[str, Program]] = {"curl": _curl, "wget": _wget, "httpie": _httpie}
