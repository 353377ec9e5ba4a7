"""Programs that send over the network: email, text messages, payments, and requests that delete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import UNKNOWN, ShellWord, is_unclear
from orgkernel.shell.options import read_options
from orgkernel.shell.reader import Program, ProgramCall

_PROVIDERS: Final = (
    ("send_email", re.compile(
        r"(^|\.)(sendgrid\.com|mailgun\.net|postmarkapp\.com|mandrillapp\.com|resend\.com|brevo\.com|sendinblue\.com|mailjet\.com"
        r"|sparkpost\.com|mailersend\.com|elasticemail\.com|smtp2go\.com|zeptomail\.com|mailtrap\.io|socketlabs\.com|customer\.io"
        r"|loops\.so|useplunk\.com|mailchimp\.com|pepipost\.com|email\.[a-z0-9-]+\.amazonaws\.com|emailit\.com)$")),
    ("send_sms", re.compile(
        r"(^|\.)(twilio\.com|nexmo\.com|vonage\.com|plivo\.com|messagebird\.com|bird\.com|telnyx\.com|clicksend\.com|infobip\.com"
        r"|gatewayapi\.com|textbelt\.com|bandwidth\.com|sinch\.com|textmagic\.com|bulksms\.com|smsapi\.com|46elks\.com|telesign\.com"
        r"|sms77\.io|seven\.io|africastalking\.com|msg91\.com|sns\.[a-z0-9-]+\.amazonaws\.com|d7networks\.com|sms\.to|signalwire\.com)$")),
    ("make_payment", re.compile(
        r"(^|\.)(stripe\.com|paypal\.com|squareup\.com|adyen\.com|adyenpayments\.com|braintreegateway\.com|braintree-api\.com"
        r"|mollie\.com|razorpay\.com|wise\.com|transferwise\.com|gocardless\.com|paddle\.com|dwolla\.com|checkout\.com|coinbase\.com"
        r"|authorize\.net|klarna\.com|worldpay\.com|paystack\.co|flutterwave\.com|mercadopago\.com|revolut\.com|lemonsqueezy\.com"
        r"|chargebee\.com|recurly\.com|payoneer\.com|binance\.com|kraken\.com|modulr\.com|xendit\.co|payu\.com|plaid\.com)$")),
)  # fmt: skip
_MICROSOFT_MAIL: Final = re.compile(
    r"(graph\.microsoft\.com/.*/sendmail|gmail\.googleapis\.com/.*/messages/send)", re.IGNORECASE
)
_SANDBOX: Final = re.compile(
    r"sandbox|(^|[.-])test[.-]|sk_test_|rk_test_|rzp_test_|checkout-test", re.IGNORECASE
)
_LOCAL: Final = re.compile(
    r"^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|[\w-]+\.(localhost|test|local))$"
)
_WRITING: Final = frozenset({"POST", "PUT", "PATCH"})


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
    is_sandbox = _SANDBOX.search(everything) is not None
    for operation, pattern in _PROVIDERS:
        if pattern.search(host):
            if not is_sandbox:
                call.found(operation, f"sends a request to {quote(host)} that has real-world effects", url)
            return
    if _MICROSOFT_MAIL.search(url.text):
        call.found("send_email", f"sends email through {quote(host)}", url)
    elif method == "DELETE":
        if _LOCAL.match(host):
            call.unread(f"what this deletes on {quote(host)} cannot be seen", url)
        else:
            call.found("delete_resource", f"deletes {quote(url.text)}", url)
    elif re.search(r"_delete_by_query|/_aliases/.*remove|/flush|/purge", url.text):
        call.found("unbounded_delete", "deletes what a query matches", url)
    elif method not in _WRITING or (not _LOCAL.match(host) and separator and not is_unclear(host)):
        if not re.search(r"/(graphql|_search|_count|search|query|token|oauth)\b", url.text):
            call.unread(f"what this request changes at {quote(host)} cannot be seen", url)
    elif is_unclear(host):
        call.unread("where this request goes is not known until the command runs", url)


_CURL_VALUED: Final = "XHdFTouAbcCeEKmPQrtUwxyYzDh"
_CURL_LONGS: Final = (
    "request", "header", "data", "data-raw", "data-binary", "data-urlencode", "data-ascii", "form", "form-string", "upload-file",
    "output", "user", "user-agent", "cookie", "cookie-jar", "config", "max-time", "connect-timeout", "retry", "retry-delay",
    "url", "mail-from", "mail-rcpt", "proxy", "cacert", "cert", "key", "referer", "write-out", "json", "output-dir", "resolve",
    "interface", "range", "limit-rate", "oauth2-bearer", "unix-socket", "aws-sigv4", "dump-header", "max-redirs", "next_",
    "url-query", "variable", "retry-max-time", "connect-to", "noproxy", "ciphers", "tls-max", "quote", "stderr", "trace",
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
        call.unread("the options in this file cannot be seen", options.value("K", "config"))
    if options.has("Q", "quote"):
        call.unread("what this command to the server does cannot be seen", options.value("Q", "quote"))
    if options.has("mail-rcpt", "mail-from") and urls:
        call.found("send_email", "sends email", urls[0])
        return UNKNOWN
    for url in urls:
        send(call, url, method, sends_data=sends)
    for target in options.all_values("o", "output"):
        call.reader.write(target, UNKNOWN, appends=False)
    return UNKNOWN


def _wget(call: ProgramCall) -> str:
    options = read_options(
        call.args, valued="OoaPUteTQwADRi", long_valued=(
            "output-document", "post-data", "post-file", "method", "body-data", "body-file", "header", "user", "password", "user-agent",
            "directory-prefix", "timeout", "tries", "input-file", "domains", "accept", "reject", "level", "execute",
        ),
    )  # fmt: skip
    sends = options.has("post-data", "post-file", "body-data", "body-file")
    method = options.value("method")
    for url in options.operands:
        send(call, url, method.text if method else ("POST" if sends else "GET"), sends_data=sends)
    for target in options.all_values("O", "output-document"):
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


def _mail(call: ProgramCall) -> None:
    options = read_options(
        call.args,
        valued="sacbrStuqfAFiHexX",
        long_valued=("to", "from", "server", "subject", "attach", "body", "header", "cc", "bcc", "account"),
    )
    if any(
        word.text in ("--version", "--help", "-V", "-bp", "-bv", "-bt", "-bi", "--quit-after", "-bd", "-q")
        for word in call.args
    ):
        return
    if call.name in ("mail", "mailx", "s-nail", "nail", "mutt", "neomutt"):
        is_sending = bool(options.operands) and not (
            call.name in ("mutt", "neomutt") and options.operands == []
        )
        if not is_sending:
            return
        local = [word.text for word in options.operands]
        if all(re.fullmatch(r"root|postmaster", each) for each in local):
            call.unread("whether this mailbox is forwarded cannot be seen")
            return
    call.found("send_email", "sends email")


def _stripe(call: ProgramCall) -> None:
    options = read_options(
        call.args, valued="pdse", long_valued=("api-key", "project-name", "data", "charge", "amount", "currency", "stripe-account", "forward-to", "events", "customer", "source"),
        longs=("live", "confirm"),
    )  # fmt: skip
    words = [word.text for word in options.operands]
    if not words or words[0] in (
        "listen",
        "login",
        "logout",
        "trigger",
        "logs",
        "config",
        "samples",
        "status",
        "version",
        "help",
        "open",
        "completion",
        "get",
        "resources",
        "fixtures",
        "sandbox",
    ):
        return
    verb = words[1] if len(words) > 1 else ""
    if verb in ("list", "retrieve", "search") or words[0] == "get":
        return
    key = options.value("api-key")
    if key is not None and _SANDBOX.search(key.text) and not options.has("live"):
        return
    if options.has("live") or (key is not None and "_live_" in key.text):
        call.found("make_payment", "acts on a live account of a payment provider")
    else:
        call.unread("whether the key of this account is a live one cannot be seen")


def _twilio(call: ProgramCall) -> None:
    words = [word.text for word in call.args if not word.text.startswith("-")]
    verb = words[0] if words else ""
    if re.search(r"(messages|calls|verifications|faxes|executions):create|email:send", verb):
        operation = "send_email" if verb.startswith("email") else "send_sms"
        call.found(operation, "sends a message or starts a call")
    elif re.search(r":(remove|delete|update)$", verb):
        call.found("delete_resource", "changes or deletes a resource of the account") if not verb.endswith(
            "update"
        ) else call.unread("what this changes cannot be seen")


def _netcat(call: ProgramCall) -> str:
    options = read_options(call.args, valued="wpsXxqi", long_valued=("exec", "sh-exec"))
    if options.has("e", "c", "exec", "sh-exec"):
        call.unread("what a peer makes this program do cannot be seen")
    ports = {word.text for word in options.operands[1:]}
    if ports & {"25", "465", "587", "2525"} and (call.stdin or "").strip() and not options.has("z"):
        call.unread("whether this sends email cannot be seen")
    return UNKNOWN


PROGRAMS: Final[Mapping[str, Program]] = {
    "curl": _curl, "wget": _wget, "http": _httpie, "https": _httpie, "xh": _httpie, "xhs": _httpie, "curlie": _httpie,
    **dict.fromkeys(
        ("mail", "mailx", "s-nail", "nail", "mutt", "neomutt", "sendmail", "msmtp", "ssmtp", "swaks", "sendemail", "sendEmail", "mpack",
         "mailsend", "exim", "exim4", "postdrop", "smtp-source", "himalaya"), _mail),
    "stripe": _stripe, "twilio": _twilio, "nc": _netcat, "ncat": _netcat, "netcat": _netcat, "telnet": _netcat, "socat": _netcat,
}  # fmt: skip
