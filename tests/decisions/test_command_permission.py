"""Whether a destructive command may run: only with a brief that lists it, and all steps before it recorded."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.work.contracts.command_permission import permit_command
from orgkernel.decisions.work.contracts.preflights import BEFORE
from orgkernel.documents.records import Brief, Preflight
from orgkernel.kernel.kernel import Kernel
from tests.support.contracts import SOUND, as_text, changed
from tests.support.in_process import run_here
from tests.support.trees import TEMPLATES

DROP = SOUND["preflight"]["command"]
READY = {"execution": None, "verification": None}
OTHER = "5d6e7f80-91a2-4b3c-8d4e-5f6071829304"

CASES: list[tuple[str, str, dict[str, Any] | None, list[dict[str, Any]], str, str | None]] = [
    # name, command, changes of the brief (None: no brief), changes of each pre-flight, permission, code and step
    ("harmless", "pytest -q", None, [], "allow", None),
    ("harmless with a brief", "pytest -q", {}, [], "allow", None),
    ("no brief", DROP, None, [READY], "deny", "DESTRUCTIVE_NOT_AUTHORISED"),
    ("not listed", DROP, {"spec.scope.destructive": ["force_push"]}, [READY], "deny", "DESTRUCTIVE_NOT_AUTHORISED"),
    ("no pre-flight", DROP, {}, [], "deny", "PREFLIGHT_STEP_MISSING dry_run"),
    ("ready", DROP, {}, [READY], "allow", None),
    ("spaces around it", f"  {DROP}\n", {}, [READY], "allow", None),
    ("another command", "psql shop -c 'DROP TABLE cards'", {}, [READY], "deny", "PREFLIGHT_STEP_MISSING dry_run"),
    ("another operation", DROP, {}, [{**READY, "operation": "force_push"}], "deny", "PREFLIGHT_STEP_MISSING dry_run"),
    ("no backup", DROP, {}, [{**READY, "backup": None}], "deny", "PREFLIGHT_STEP_MISSING backup"),
    ("another brief", DROP, {"id": OTHER}, [READY], "deny", "PREFLIGHT_STEP_MISSING authorization"),
    ("used before", DROP, {}, [{}], "deny", "PREFLIGHT_STEP_MISSING dry_run"),
    ("one of two is ready", DROP, {}, [{}, READY], "allow", None),
    ("wrong order", DROP, {}, [{**READY, "backup.at": "2026-05-17T10:00:00Z"}], "deny", "PREFLIGHT_STEP_MISSING backup"),
    ("one of two operations", f"{DROP}; git push -f", {}, [{**READY, "command": f"{DROP}; git push -f"}], "deny", "DESTRUCTIVE_NOT_AUTHORISED"),
    ("a part that cannot be read", f"{DROP}; $X", {}, [{**READY, "command": f"{DROP}; $X"}], "cannot_tell", None),
    ("nothing can be read", "$X", {}, [READY], "cannot_tell", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def client():
    """A server; which organization it has does not matter."""
    app = create_app(Kernel.open(TEMPLATES / "blank"), rate=100_000)
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50_000)) as asking:
        yield asking


@pytest.mark.parametrize(
    ("command", "brief", "preflights", "permission", "refusal"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)  # fmt: skip
def test_permission_is_the_same_on_every_surface(
    client: TestClient,
    tmp_path: Path,
    command: str,
    brief: dict[str, Any] | None,
    preflights: list[dict[str, Any]],
    permission: str,
    refusal: str | None,
) -> None:
    """The function, HTTP with objects and with texts, and the command line."""
    given = None if brief is None else changed("brief", brief)
    done = [changed("preflight", each) for each in preflights]
    found = permit_command(
        command,
        brief=None if given is None else msgspec.convert(given, Brief),
        preflights=msgspec.convert(done, list[Preflight]),
    )
    assert found.permission == permission
    said = [f"{each.code} {each.step or ''}".strip() for each in found.refusals]
    assert said == ([] if refusal is None else [refusal])
    answer = msgspec.to_builtins(found)
    for as_given in (lambda each: each, as_text):
        body: dict[str, Any] = {"command": command, "preflights": [as_given(each) for each in done]}
        body |= {} if given is None else {"brief": as_given(given)}
        assert client.post("/v1/commands/check", json=body).json() == json.loads(json.dumps(answer))
    files = []
    for number, each in enumerate(done):
        (tmp_path / f"{number}.yaml").write_text(as_text(each), encoding="utf-8")
        files += ["--preflight", f"{number}.yaml"]
    if given is not None:
        (tmp_path / "brief.yaml").write_text(as_text(given), encoding="utf-8")
        files += ["--brief", "brief.yaml"]
    ran = run_here("command", "check", *files, "--format", "json", "--", command, cwd=tmp_path)
    assert json.loads(ran.stdout) == json.loads(json.dumps(answer))
    assert ran.returncode == {"allow": 0, "deny": 1, "cannot_tell": 2}[permission]


def test_no_set_of_steps_but_the_whole_opens() -> None:
    """Whichever of the steps before the operation are left out, the first of them is named."""
    names = [step.field for step in BEFORE]
    brief = msgspec.convert(SOUND["brief"], Brief)
    for count in range(len(names) + 1):
        for left_out in combinations(names, count):
            preflight = changed("preflight", {**READY, **dict.fromkeys(left_out)})
            found = permit_command(DROP, brief=brief, preflights=[msgspec.convert(preflight, Preflight)])
            assert found.permission == ("deny" if left_out else "allow")
            assert [each.step for each in found.refusals] == list(left_out[:1])


def test_a_brief_that_is_not_sound_authorizes_nothing(client: TestClient, tmp_path: Path) -> None:
    """Nor does a contract of another kind, or what cannot be read; the error says where to look."""
    for name, text in {
        "no_id": as_text(changed("brief", {"id": None})),
        "result": as_text(SOUND["result"]),
        "broken": "a: [",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        ran = run_here("command", "check", "--brief", name, "--", DROP, cwd=tmp_path)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert f"`orgkernel task check {name}` lists all problems" in ran.stderr
        answer = client.post("/v1/commands/check", json={"command": DROP, "brief": text})
        assert answer.status_code in (400, 404, 422), answer.text
    assert run_here("command", "check", "--brief", "missing.yaml", "--", DROP, cwd=tmp_path).returncode == 2
