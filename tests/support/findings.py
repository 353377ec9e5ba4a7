"""Findings for tests, well-behaved and hostile."""

from __future__ import annotations

from hypothesis import strategies as st

from orgkernel.diagnostics import Diagnostic, Place, Related, Severity

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
# What formats give a meaning to, what parsers refuse, what terminals act on.
NASTY = (
    "two\nlines\r\nand three",
    "100%, 50%25: a::b,c=d",
    "::error file=x::injected",
    "]]> <failure message='x'/> &amp; \"quoted\"",
    "\x00\x01\x1b[31m\x7f\x85",
    "\ufffe\uffff\ud800\U0001f600é\u202eevil\u2028",
    "| a | `b` **c** [d](http://example.com) ![e](f) <img src=x> www.example.com @you",
    "{0} {{1}} \\n %SRCROOT%",
    TOKEN,
    "",
    " ",
)

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(codec=None), max_size=40),
    st.text("%:,\r\n|`<>&\"'[]{}()\\#\x00 aé", max_size=20),
)
places = st.builds(Place, texts, st.integers(1, 99), st.integers(1, 99))
findings = st.builds(
    Diagnostic,
    place=places,
    code=st.sampled_from(["ORG001", "ORG202", "ORG301", "ORG999"]),
    name=st.just("some-name"),
    severity=st.sampled_from(Severity),
    message=texts,
    help=texts,
    subject=texts,
    related=st.lists(st.builds(Related, places, texts), max_size=2).map(tuple),
)
several = st.lists(findings, max_size=6)


def a_finding(
    message: str = "role `dev` handles `codegn`",
    file: str = "roles/dev.yaml",
    line: int = 5,
    column: int = 3,
    code: str = "ORG301",
    severity: Severity = Severity.ERROR,
    help: str = "",
    subject: str = "role:dev",
) -> Diagnostic:
    """A finding of the usual kind."""
    return Diagnostic(Place(file, line, column), code, "unknown-domain", severity, message, help, subject)


def no_lines(_: str) -> tuple[str, ...]:
    """For files that cannot be read any more."""
    return ()
