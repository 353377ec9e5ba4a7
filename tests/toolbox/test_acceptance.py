"""The acceptance scenario: a social media marketer, by configuration only."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orgkernel import Kernel
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.graph.schema import EdgeKind
from orgkernel.kernel.settings import find_project
from orgkernel.state.audit import read_rows
from orgkernel.state.store import Store
from orgkernel.toolbox import Toolbox
from orgkernel.toolbox.settings import read_providers
from tests.state.opening import opened, sqlite_at
from tests.support.trees import REPOSITORY
from tests.toolbox.serving import serving

FILES = REPOSITORY / "tests" / "toolbox" / "acceptance"
TOKEN = "t0ken-of-the-company-page"
POST = {"text": "We have reached a new planet."}
published: list[dict[str, Any]] = []


async def _posts(request: Request) -> Response:
    """What the service does: only who has the token publishes."""
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return JSONResponse({"error": "who are you?"}, status_code=401)
    if request.method == "POST":
        published.append(await request.json())
    return JSONResponse({"posts": len(published)})


@pytest.fixture
def url() -> Iterator[str]:
    published.clear()
    with serving(Starlette(routes=[Route("/posts", _posts, methods=["GET", "POST"])])) as url:
        yield url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(sqlite_at(tmp_path), time.time) as store:  # type: ignore[arg-type]
        yield store


def opened_at(folder: Path, store: Store) -> tuple[Kernel, Toolbox]:
    """What a host does with any organization: nothing here knows what it declares."""
    project = find_project(str(folder))
    kernel = Kernel.open(*(str(folder / path) for path in project.paths), store=store)
    assert [str(found) for found in kernel.check() if found.severity.value == "error"] == []
    credentials = {"linkedin": TOKEN}.get
    return kernel, Toolbox(kernel, read_providers(project.toolbox), store=store, credentials=credentials)


def test_a_social_media_marketer_by_configuration_only(tmp_path: Path, url: str, store: Store) -> None:
    """After files are added, without code, all duties of the role work, with reasons, and no other role performs them."""
    folder = tmp_path / "vessel"
    shutil.copytree(FILES / "before", folder)
    kernel, toolbox = opened_at(folder, store)
    assert toolbox.context("vessel", "agent:marlo").list() == ()
    assert toolbox.context("vessel", "agent:scotty").has_tool("code_execution_tool")

    added = [path for path in (FILES / "added").rglob("*") if path.is_file()]
    assert {path.suffix for path in added} == {".yaml", ".toml"}
    shutil.copytree(FILES / "added", folder, dirs_exist_ok=True)
    settings = folder / "orgkernel.toml"
    settings.write_text(settings.read_text().replace("@URL@", url))
    kernel, toolbox = opened_at(folder, store)
    manifest = kernel.manifest("vessel", "social_media_marketer")
    view = kernel.organization("vessel").snapshot.index
    marlo = toolbox.context("vessel", "agent:marlo")

    # The agent is recognized, and its chain of command resolved.
    assert [edge.target for edge in view.list_roles_filled_by("marlo")] == ["social_media_marketer"]
    assert [member.id for member in manifest.chain_of_command] == ["first_officer", "captain", "user"]
    assert manifest.department is not None
    assert manifest.department.id == "communications"

    # Four skills, the prerequisite of one among them.
    skills = {skill.id: skill.min_proficiency for skill in manifest.skills}
    assert skills == {
        "content_creation": 3, "social_media_post_writing": 3, "audience_analysis": 2, "brand_voice_adherence": 3,
    }  # fmt: skip
    needs = {edge.target for skill in skills for edge in view.list_edges_from(EdgeKind.PRESUPPOSES, skill)}
    assert needs == {"content_creation"}

    # The intent is this role's, and nobody else's.
    serving_it = [edge.source for edge in view.list_edges_to(EdgeKind.SERVES_INTENT, "create_linkedin_post")]
    assert serving_it == ["social_media_marketer"]
    assert [item.id for item in manifest.intents] == ["create_linkedin_post"]

    # The tool is visible to this role only, whoever asks and however high.
    rows = kernel.who_can("vessel", "list", "tool:linkedin_post_api")
    assert [row.subject for row in rows] == ["role:social_media_marketer", "agent:marlo"]
    for subject in ("role:captain", "role:first_officer", "role:chief_engineer", "agent:scotty"):
        other = toolbox.context("vessel", subject)
        assert not other.has_tool("linkedin_post_api")
        assert all(tool.tool != "linkedin_post_api" for tool in other.list())
        refused = other.invoke_blocking("linkedin_post_api", POST, action="publish", fallback=False)
        assert (refused.outcome, refused.code) == ("denied", "NOT_VISIBLE")

    # Writing goes by rank: at a trust of 0.45 it may read; trusted with 0.6, the rank matrix lets it write.
    assert marlo.level("linkedin_post_api") == "read"
    early = marlo.invoke_blocking("linkedin_post_api", POST, action="publish", fallback=False)
    assert (early.outcome, early.code) == ("denied", "RANK_TOO_LOW")
    assert early.steps[0].remedies == (
        "grant `tool:linkedin_post_api` at level `write`, waiving rank", "promote to `lieutenant`",
    )  # fmt: skip
    store.agents.add("marlo", org_id="vessel", actor="person:user", trust=0.45)
    store.agents.set_trust(
        "marlo", 0.6, org_id="vessel", actor="person:user", reason="a month of good drafts"
    )
    assert marlo.level("linkedin_post_api") == "write"
    assert not marlo.has_tool("linkedin_post_api", "remove")

    # The call reaches the service, with the credential of the role, which is not in the result.
    result = marlo.invoke_blocking("linkedin_post_api", POST, action="publish")
    assert (result.outcome, result.output, result.metadata) == ("done", {"posts": 1}, {"status": 200})
    assert published == [POST]
    assert TOKEN not in repr(result)
    too_long = marlo.invoke_blocking("linkedin_post_api", {"text": "x" * 3001}, action="publish")
    assert (too_long.outcome, too_long.code) == ("denied", "INPUT_INVALID")
    assert published == [POST]

    # Trust and usage are recorded, the call linked to the decision that allowed it.
    (agent,) = store.agents.list()
    assert (agent.agent_id, agent.trust) == ("marlo", 0.6)
    (use,) = store.usage.list(("marlo",))
    assert (use.tool_id, use.uses, use.failures) == ("linkedin_post_api", 1, 0)
    (called,) = read_rows(store.context, AuditFilter(kind="usage"))
    assert called.entry.record_id == result.steps[0].audit_id
    trusted = next(row for row in read_rows(store.context, AuditFilter(kind="agent", activity="trusted")))
    assert trusted.entry.reason == "a month of good drafts"

    # One query shows role, skills and tools, each with the line that says so.
    (tool,) = manifest.tools
    assert (tool.id, tool.declared_level, tool.provider) == ("linkedin_post_api", "write", "linkedin")
    # What a rank leaves of it: to whoever starts in the role, and to the agent that is trusted by now.
    assert (tool.level, tool.capped_by) == ("read", ("rank",))
    trusted_with = {
        each.id: each.level for each in kernel.with_store(store).agent_manifest("vessel", "marlo").tools
    }
    assert trusted_with[tool.id] == "write"
    for item in (*manifest.skills, *manifest.tools, *manifest.intents, manifest.department):
        assert item.why[0].file.endswith("social_media_marketer.yaml"), item
        assert item.why[0].line > 1
