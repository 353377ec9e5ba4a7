"""The table: what is measured, beside what, and what is aimed at.

To add a row, write a function of a folder in a module that `measure.py` looks in, and name it here. A function that is
not there yet leaves its row in the table, with the words that it is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = tuple[str, str]
"""A measurement and, with dots, which of its figures."""


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, what it is compared with, and the aim."""

    name: str
    value: Source
    unit: str
    against: Source | None = None
    """What the figure is divided by, measured in the same turns."""
    aim: float | None = None
    """The ratio that is aimed at; of the figure itself where it is compared with nothing."""
    better: Literal["less", "more"] = "less"
    sizes: tuple[int, int] = (0, 1_000_000)
    """The least and the most roles it is measured with."""
    once: bool = False
    """Whether one measurement is enough: it takes many turns within."""
    steady: bool = True
    """Whether the ratio says the same on every machine, so that it can be held to an earlier one."""


_PARSE = ("parse_only", "seconds")
_MIXED_PARSE = ("mixed_parse", "seconds")
_CALL = ("floors", "call")

_CHECK, _CEDAR, _REGORUS, _CASBIN = "access_check", "access_cedar", "access_regorus", "access_casbin"

# Beside other engines a ratio is ours to theirs: 0.067 is fifteen times as fast.
_ACCESS: tuple[Row, ...] = (
    Row("access check", (_CHECK, "check.median"), "µs", aim=3.0),
    Row("access check, p99", (_CHECK, "check.p99"), "µs", aim=10.0, steady=False),
    Row("access check: cedarpy", (_CHECK, "check.median"), "µs", (_CEDAR, "check.median"), 0.067),
    Row("access check: regorus", (_CHECK, "check.median"), "µs", (_REGORUS, "check.median"), 0.067),
    Row("access check: casbin, yes or no", (_CHECK, "check.median"), "µs", (_CASBIN, "check.median"), sizes=(0, 10_000)),
    Row("access check: denied to allowed", (_CHECK, "deny.median"), "µs", (_CHECK, "allow.median"), 1.5),
    Row("access check: with 10,000 grants of others", (_CHECK, "others.median"), "µs", (_CHECK, "check.median"), 1.1),
    Row("access check, first about a role", (_CHECK, "first"), "µs", steady=False),
    Row("access check, cedarpy's own", (_CEDAR, "check.median"), "µs", _CALL, steady=False),
    Row("access check, cedarpy's floor", (_CEDAR, "floor.median"), "µs", _CALL, steady=False),
    Row("access check, regorus's own", (_REGORUS, "check.median"), "µs", _CALL, steady=False),
    Row("access check, regorus's floor", (_REGORUS, "floor.median"), "µs", _CALL, steady=False),
    Row("access list of 100 tools", ("access_list", "values.median"), "µs", aim=80.0, once=True),
    Row("access list, kept bytes", ("access_list", "kept.median"), "µs", aim=0.5, once=True),
    Row("access list: cedarpy, asked one by one", ("access_list", "values.median"), "µs", (_CEDAR, "list.median"), steady=False),
    Row("access list: regorus", ("access_list", "values.median"), "µs", (_REGORUS, "list.median"), steady=False),
    Row("access who can: 3 µs and 0.25 a result", ("access_who", "again.median"), "µs", ("access_who", "allowance"), 1.0, once=True),
    Row("access who can, again, p99", ("access_who", "again.p99"), "µs", ("access_who", "allowance"), once=True, steady=False),
    Row("access who can, first about a tool", ("access_who", "first.median"), "µs", ("access_who", "allowance"), 1.0, once=True),
    Row("access who can, first about a tool, p99", ("access_who", "first.p99"), "µs", ("access_who", "allowance"), once=True, steady=False),
    Row("access who can, first about a tool, per result", ("access_who", "first_per_result"), "µs", aim=0.25, once=True),
    Row("access who can, very first", ("access_who", "very_first"), "µs", once=True, steady=False),
    Row("access explanation with remedies", ("access_explain", "median"), "µs", aim=500.0, once=True),
    Row("access explanation with remedies, p99", ("access_explain", "p99"), "µs", once=True, steady=False),
    Row("access check: with 10,000 grants of others, p99", (_CHECK, "others.p99"), "µs", (_CHECK, "check.p99"), steady=False),
)  # fmt: skip

_STORED = {
    "many_tools": "own grants, many tools", "one_tool": "own grants, one tool", "ends": "own grants, different ends",
    "waivers": "own grants, waivers", "all_tools": "own grants of all tools", "paths": "own grants, parts of a tool",
    "sessions": "own grants, sessions", "restrictions": "own restrictions", "restricted_paths": "own restrictions, parts of a tool",
}  # fmt: skip
_ASKED = {
    "own": ("check of a tool it has", 1.5), "check": ("check", 1.5), "part": ("check of a path", 1.5),
    "list": ("list, a tool", 3.0), "manifest": ("manifest, a tool", 3.0), "explain": ("explanation", 3.0),
}  # fmt: skip

# Five thousand of a subject's own, beside none.
_OWN: tuple[Row, ...] = tuple(
    Row(
        f"{name}: {what}", ("own_grants", f"{stored}.{asked}.stored"), "µs", ("own_grants", f"{stored}.{asked}.without"), aim,
        sizes=(0, 1_000), once=True,
    )
    for stored, name in _STORED.items()
    for asked, (what, aim) in _ASKED.items()
)  # fmt: skip

# Of the two templates, whatever the size; so in the smallest table only.
_HOST: tuple[Row, ...] = (
    Row("Agent-Zero 0.9.7: tool prompt spared, specialists", ("role_effect", "oldest"), "", aim=0.6, better="more", sizes=(0, 1_000), once=True),
    Row("Agent-Zero 0.9.8.2: tool prompt spared, specialists", ("role_effect", "old"), "", aim=0.6, better="more", sizes=(0, 1_000), once=True),
    Row("Agent-Zero 1.7: tool prompt spared, specialists", ("role_effect", "new"), "", aim=0.4, better="more", sizes=(0, 1_000), once=True),
    Row("Agent-Zero: stock tools refused to specialists", ("role_effect", "refused"), "", better="more", sizes=(0, 1_000), once=True),
    Row("Agent-Zero: added to a model call", ("host_overhead", "median"), "ms", aim=1.0, sizes=(0, 1_000), once=True, steady=False),
    Row("Agent-Zero: added to a model call, p99", ("host_overhead", "p99"), "ms", sizes=(0, 1_000), once=True, steady=False),
    Row("Agent-Zero: added to a model call that reports", ("host_overhead_reporting", "median"), "ms", aim=1.0, sizes=(0, 1_000), once=True, steady=False),
    Row("Agent-Zero: looks at the disk in a model call", ("host_overhead", "files"), "", aim=13.0, sizes=(0, 1_000), once=True),
    Row("Agent-Zero: first call of a process, with loading", ("first_call", "together"), "ms", aim=60.0, sizes=(0, 1_000), once=True, steady=False),
)  # fmt: skip

_PYTHON = ("start", "python")

# Of one small organization; the whole process, beside the start of bare Python.
_START: tuple[Row, ...] = (
    Row("start: importing orgkernel", ("start", "import"), "s", _PYTHON, sizes=(0, 1_000), once=True),
    Row("start: from orgkernel import Kernel", ("start", "kernel"), "s", _PYTHON, 6, sizes=(0, 1_000), once=True),
    Row("start: opening twelve roles, without import", ("start", "open"), "s", aim=0.15, sizes=(0, 1_000), once=True),
    Row("start: from orgkernel import Client", ("start", "client"), "s", _PYTHON, sizes=(0, 1_000), once=True),
    Row("start: orgkernel --version", ("start", "version"), "s", _PYTHON, sizes=(0, 1_000), once=True),
    Row("start: importing pydantic, for comparison", ("start", "pydantic"), "s", _PYTHON, sizes=(0, 1_000), once=True),
    Row("start: check, cold", ("start", "check_cold"), "s", _PYTHON, 15, sizes=(0, 1_000), once=True),
    Row("start: check of 450 Markdown files, cold: parsing their front matter", ("start", "check_markdown"), "s", ("start", "front_matter"), 3, sizes=(0, 1_000), once=True),
    Row("start: check of 450 Markdown files, cold: parsing their front matter with the C loader", ("start", "check_markdown"), "s", ("start", "front_matter_c"), 3, sizes=(0, 1_000), once=True),
    Row("start: check, warm", ("start", "check_warm"), "s", _PYTHON, 10, sizes=(0, 1_000), once=True),
    Row("start: test, warm", ("start", "test"), "s", _PYTHON, 15, sizes=(0, 1_000), once=True),
    Row("start: diff, warm", ("start", "diff"), "s", _PYTHON, 20, sizes=(0, 1_000), once=True),
    Row("start: dispatch, warm", ("start", "dispatch"), "s", _PYTHON, 10, sizes=(0, 1_000), once=True),
    Row("start: manifest, warm", ("start", "manifest"), "s", _PYTHON, 10, sizes=(0, 1_000), once=True),
    Row("start: default dependencies", ("installation", "packages"), "packages", sizes=(0, 1_000), once=True),
    Row("start: size of default dependencies", ("installation", "megabytes"), "MB", sizes=(0, 1_000), once=True),
)  # fmt: skip

# With an engine beside without it; 0.87 is the least that one may bring.
_ENGINES: tuple[Row, ...] = (
    Row("engine fast_path: an evaluation over HTTP", ("engine_fast_path", "on.cpu_us"), "µs", ("engine_fast_path", "off.cpu_us"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine gateway_calls: a call through the gateway", ("engine_gateway", "on.cpu_us"), "µs", ("engine_gateway", "gateway_calls.cpu_us"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine http_client: a call through the gateway", ("engine_gateway", "on.cpu_us"), "µs", ("engine_gateway", "http_client.cpu_us"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine static_rows: a list of 100 tools", ("engine_static_rows", "list.on"), "µs", ("engine_static_rows", "list.off"), 0.87, once=True),
    Row("engine static_rows: who can, first about a tool", ("engine_static_rows", "who_can.on"), "µs", ("engine_static_rows", "who_can.off"), 0.87, sizes=(0, 10_000), once=True),
    Row("engine row_inserts: a row, 64 in a transaction", ("engine_row_inserts", "together.on"), "µs", ("engine_row_inserts", "together.off"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine row_inserts: a row alone", ("engine_row_inserts", "alone.on"), "µs", ("engine_row_inserts", "alone.off"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine json_reader: a call of the hook", ("engine_hook", "call.on"), "ms", ("engine_hook", "call.json_reader"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine digests: a call of the hook", ("engine_hook", "call.on"), "ms", ("engine_hook", "call.digests"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine light_start: a command in the hook of file owners", ("engine_light_start", "command.on"), "ms", ("engine_light_start", "command.off"), 0.87, sizes=(0, 1_000), once=True),
    Row("engine glob_matcher: a write in the hook", ("engine_hook", "write.on"), "ms", ("engine_hook", "write.glob_matcher"), 0.87, sizes=(0, 1_000), once=True),
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    Row("parsing the same files alone", _PARSE, "s"),
    Row("cold load", ("cold_load", "seconds"), "s", _PARSE, 0.9),
    Row("mixed styles: cold load", ("mixed_load", "seconds"), "s", _MIXED_PARSE, 0.9, sizes=(0, 10_000)),
    Row(
        "mixed styles, many findings: cold load", ("mixed_load_of_many_findings", "seconds"), "s", _MIXED_PARSE,
        sizes=(0, 10_000),
    ),
    Row(
        "mixed styles: cold check, whole process", ("mixed_check", "seconds"), "s", ("mixed_check", "parse"), 1.8,
        sizes=(0, 10_000), once=True,
    ),
    Row("cold check of a small organization", ("small_check", "seconds"), "s", ("small_check", "python"), 20, sizes=(0, 1_000), once=True),
    Row("diff of one edited role, warm", ("diff_of_one_file", "seconds"), "s", aim=3, once=True),
    Row("diff of one edited role, warm: memory", ("diff_of_one_file", "peak_mb"), "MB", aim=400, once=True),
    Row("findings of a load", ("cold_load", "findings"), ""),
    Row("networkx graph beside it", ("graph", "seconds"), "s", _PARSE, once=True),
    Row("warm load", ("warm_load", "seconds"), "s", _PARSE, 0.12),
    Row("one changed file, new process", ("one_changed_fresh", "seconds"), "s", _PARSE, 0.25),
    Row("one changed file, running server", ("one_changed_server", "seconds"), "s", _PARSE, 0.25),
    Row("peak memory of a cold load", ("cold_load", "peak_kb_per_role"), "KB/role"),
    Row("resident memory of a server", ("memory", "resident_kb_per_role"), "KB/role", once=True),
    Row("index", ("memory", "index_kb_per_role"), "KB/role", aim=3.0, once=True),
    Row("dispatch", ("dispatch", "plain.median"), "µs", _CALL, once=True),
    Row("dispatch, p99", ("dispatch", "plain.p99"), "µs", _CALL, once=True, steady=False),
    Row("dispatch with needs", ("dispatch", "needs.median"), "µs", _CALL, once=True),
    Row("dispatch with needs, p99", ("dispatch", "needs.p99"), "µs", _CALL, once=True, steady=False),
    Row("dispatch, first time", ("dispatch", "first_plain"), "µs", _CALL, once=True, steady=False),
    Row("dispatch with needs, first time", ("dispatch", "first_needs"), "µs", _CALL, once=True, steady=False),
    Row("manifest as bytes, again", ("manifest", "again.median"), "µs", _CALL, once=True),
    Row("manifest as bytes, first time", ("manifest", "new.median"), "µs", _CALL, once=True),
    Row("manifest as bytes, first, p99", ("manifest", "new.p99"), "µs", _CALL, once=True, steady=False),
    Row(
        "HTTP, again: answers of a bare app", ("http_again", "ours.per_second"), "/s",
        ("http_again", "bare.per_second"), 0.85, "more", (0, 10_000), once=True,
    ),
    Row(
        "HTTP, again: p99", ("http_again", "ours.p99_ms"), "ms", ("http_again", "bare.p99_ms"), 1.5,
        sizes=(0, 10_000), once=True, steady=False,
    ),
    Row(
        "HTTP, again: processor time", ("http_again", "ours.cpu_us"), "µs", ("http_again", "bare.cpu_us"),
        sizes=(0, 10_000), once=True,
    ),
    Row(
        "HTTP, again: bare app, body only", ("http_again", "ours.per_second"), "/s",
        ("http_again", "bare_body_only.per_second"), None, "more", (0, 10_000), once=True,
    ),
    Row(
        "HTTP, first: FastAPI response_model", ("http_first", "ours.per_second"), "/s",
        ("http_first", "response_model.per_second"), 3.0, "more", (0, 10_000), once=True,
    ),
    Row(
        "HTTP, first: processor time", ("http_first", "ours.cpu_us"), "µs", ("http_first", "response_model.cpu_us"),
        sizes=(0, 10_000), once=True,
    ),
    Row(
        "HTTP, first: ready answers", ("http_first", "ours.per_second"), "/s",
        ("http_first", "response_model_of_ready.per_second"), None, "more", (0, 10_000), once=True,
    ),
    Row(
        "AuthZEN over HTTP, repeated", ("authzen", "ours.per_second"), "/s", ("authzen", "bare.per_second"), 0.5, "more",
        (0, 10_000), once=True,
    ),
    Row(
        "AuthZEN over HTTP, repeated: p99", ("authzen", "ours.p99_ms"), "ms", ("authzen", "bare.p99_ms"),
        sizes=(0, 10_000), once=True, steady=False,
    ),
    Row(
        "AuthZEN over HTTP, repeated: processor time", ("authzen", "ours.cpu_us"), "µs", ("authzen", "bare.cpu_us"),
        sizes=(0, 10_000), once=True,
    ),
    Row(
        "AuthZEN over HTTP, new", ("authzen_new", "ours.per_second"), "/s", ("authzen_new", "bare.per_second"), 0.5,
        "more", (0, 10_000), once=True,
    ),
    Row(
        "AuthZEN over HTTP, new: p99", ("authzen_new", "ours.p99_ms"), "ms", ("authzen_new", "bare.p99_ms"),
        sizes=(0, 10_000), once=True, steady=False,
    ),
    Row(
        "AuthZEN over HTTP, new: processor time", ("authzen_new", "ours.cpu_us"), "µs", ("authzen_new", "bare.cpu_us"),
        sizes=(0, 10_000), once=True,
    ),
    Row(
        "AuthZEN over HTTP, audited", ("authzen_audited", "ours.per_second"), "/s",
        ("authzen_audited", "bare.per_second"), None, "more", (0, 10_000), once=True, steady=False,
    ),
    Row("command line, dispatch, warm", ("start_up", "dispatch"), "s", ("start_up", "python"), 10, sizes=(0, 1_000)),
    Row("command line, manifest, warm", ("start_up", "manifest"), "s", ("start_up", "python"), 10, sizes=(0, 1_000)),
    *_START,
    *_ENGINES,
    *_ACCESS,
    *_OWN,
    *_HOST,
)  # fmt: skip


def rows_for(size: int, only: str | None = None) -> tuple[Row, ...]:
    """The rows measured at a size, those with a word in their name where one is given."""
    return tuple(
        row for row in ROWS if row.sizes[0] <= size <= row.sizes[1] and (only is None or only in row.name)
    )
