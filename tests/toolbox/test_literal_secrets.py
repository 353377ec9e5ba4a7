"""Values of a declaration are secrets by where they stand, whatever they look like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orgkernel import Kernel
from orgkernel.diagnostics.excerpt_secrets import mask_line
from orgkernel.errors import BadToolbox
from orgkernel.runtime.url_secrets import find_url_secrets, mask_urls
from orgkernel.toolbox import HttpApi, McpServer
from orgkernel.toolbox.literal_secrets import build_maskers, mask_target
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.toolbox.crew import organization, toolbox
from tests.toolbox.serving import serving


async def _echo(request: Request) -> Response:
    status = 200 if request.path_params["what"] == "fine" else 400
    return JSONResponse({"given": f"{dict(request.headers)} {request.url.query}"}, status)


@pytest.mark.parametrize(
    ("text", "masked", "values"),
    [
        ("https://a.example/mcp", "https://a.example/mcp", []),
        ("https://ann:pw@a.example/", "https://***@a.example/", ["ann", "pw"]),
        ("https://key@a.example", "https://***@a.example", ["key"]),
        ("https://a@b:c@d.example", "https://***@d.example", ["a@b", "c"]),
        ("https://p%40ss:x@a.example", "https://***@a.example", ["p%40ss", "p@ss", "x"]),
        ("https://a.example?k=v&w;x=", "https://a.example?k=***&***;x=***", ["v", "w"]),
        ("https://a.example/?q=a+b%20c#tool", "https://a.example/?q=***#tool", ["a+b%20c", "a+b c", "a b c"]),
        ("use postgres://u:p@h/db, or //x?y=z", "use postgres://***@h/db, or //x?y=z", ["u", "p"]),
        ("https://[::1]:80/?a=b", "https://[::1]:80/?a=***", ["b"]),
    ],
)
def test_user_information_and_queries_of_urls_are_secrets(text: str, masked: str, values: list[str]) -> None:
    """They are masked in what is shown, and found as they are written and as a server reads them."""
    assert mask_urls(text) == masked
    assert [each.value for each in find_url_secrets(text)] == values
    assert len(mask_urls(text, keeps_length=True)) == len(text)


@pytest.mark.parametrize(
    ("provider", "in_results", "in_errors"),
    [
        (McpServer(("run",), environment={"WORD": "house-boat", "PIN": "1234"}), "house-boat 1234", ""),
        (McpServer(("run",), environment={"DEBUG": "true", "NODE_ENV": "production"}), "", "production"),
        (McpServer(("run",), environment={"ALLOWED_DIR": "/home/ann"}), "", "/home/ann"),
        (McpServer(("run",), environment={"DB_URL": "pg://u1:pass@h/x"}), "pass", ""),
        (McpServer(("run", "--token", "house", "--port=8080x")), "house", ""),
        (McpServer(("run", "-e", "WORD=house-boat", "--header=X-A: Bearer house")), "house-boat", ""),
        (
            McpServer("https://user1:word@h.example/?w=boathouse&ref=mainproject"),
            "user1 word boathouse",
            "mainproject",
        ),
        (
            McpServer("https://h.example", headers={"X-Team": "red-team", "Accept": "text/xml"}),
            "red-team",
            "text/xml",
        ),
        (
            HttpApi("https://h.example?sig=word", "GET /", {"Notion-Version": "2022-06-28"}),
            "word",
            "2022-06-28",
        ),
    ],
)
def test_each_place_has_its_rule(provider: McpServer | HttpApi, in_results: str, in_errors: str) -> None:
    """A result keeps what a server repeats for a good reason; an error keeps no value that is longer than a word."""
    maskers = build_maskers(provider, {})
    for value in in_results.split():
        assert (maskers.results.mask(f"<{value}>"), maskers.texts.mask(f"<{value}>")) == ("<***>", "<***>"), (
            value
        )
    for value in in_errors.split():
        assert (maskers.results.mask(f"<{value}>"), maskers.texts.mask(f"<{value}>")) == (
            f"<{value}>",
            "<***>",
        )
    assert maskers.texts.mask("true 8080x") == "true 8080x"


def test_a_command_is_shown_without_its_secrets() -> None:
    """The values of options that state a secret, and those in URLs."""
    command = (
        "npx",
        "remote",
        "https://a.example/?k=v",
        "--header",
        "X-Key: plain",
        "--token=abc",
        "--port",
        "80",
    )
    assert (
        mask_target(command)
        == "npx remote https://a.example/?k=*** --header X-Key: *** --token=*** --port 80"
    )


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (['{"s": {"env": {"PIN": "12"}, "args": ["a"]}}'], '{"s": {"env": {"PIN": ****}, "args": ["a"]}}'),
        (['"env": {', '  "PIN": "12",'], '  "PIN": ****,'),
        (["headers:", "  X-Team: red team"], "  X-Team: ********"),
        (["[mcp_servers.s.env]", 'PIN = "12"'], "PIN = ****"),
        (["[mcp_servers.s]", 'command = "run"'], 'command = "run"'),
        (
            ['s = { env = { PIN = "12" }, url = "https://k@h/?a=b" }'],
            's = { env = { PIN = **** }, url = "https://*@h/?a=*" }',
        ),
        (["environment: home", "name: ann"], "name: ann"),
    ],
)
def test_an_excerpt_has_no_value_of_an_environment(lines: list[str], shown: str) -> None:
    """In JSON, YAML and TOML, on one line or several; the columns stay where they are."""
    assert mask_line(lines, len(lines)) == shown


def test_an_http_api_does_not_repeat_its_declaration(tmp_path: Path) -> None:
    """Neither in a result nor in an error, nor in the error of a URL that cannot be used."""
    kernel: Kernel = organization(tmp_path)

    def invoke(url: str, what: str) -> Any:
        api = HttpApi(url, "GET /echo/{what}", {"x-team": "plain-words"})
        context = toolbox(kernel, timeout=PATIENCE, look=api).context("post", "agent:ann")
        return context.invoke_blocking("look", {"what": what}, fallback=False)

    with serving(Starlette(routes=[Route("/echo/{what}", _echo)])) as url:
        for what, outcome in (("fine", "done"), ("wrong", "failed")):
            result = invoke(url, what)
            assert (result.outcome, "plain-words" in str(result)) == (outcome, False)
            assert "***" in str(result)
    with pytest.raises(BadToolbox) as caught:
        invoke("ftp://ann:word@a.example", "fine")
    assert "word" not in caught.value.message


def test_a_server_that_is_named_by_its_url_has_no_key_in_its_name(tmp_path: Path) -> None:
    """CrewAI names servers so; the name is in findings, manifests and answers."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "agents.yaml").write_text(
        "researcher:\n  role: Researcher\n  goal: Find\n  backstory: Long\n  mcps:\n"
        '    - "https://mcp.example/mcp?api_key=summer-of-69#search"\n'
        "    - {url: 'https://anna-maria@mcp.example/mcp?k=open-sesame'}\n",
        encoding="utf-8",
    )
    done = run_here("manifest", "researcher", "--path", str(tmp_path), "--format", "json", cwd=tmp_path)
    assert "https://mcp.example/mcp?api_key=***#search" in done.stdout
    for secret in ("summer", "anna", "sesame"):
        assert secret not in done.stdout + done.stderr
