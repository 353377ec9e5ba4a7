"""The scenario of the crew capability specification, section 15, on real parts: documents, a store, an HTTP server and an MCP server.

Nothing here knows what the documents declare, except what a user would type: names of the agent, the role and the task.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Why
from orgkernel.decisions.work.capability.handling import HandlingRequest
from orgkernel.demo.servers import TOKEN, InsightsServer, PostService, run_insights, run_service
from orgkernel.diagnostics.wording import listing
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import locate_store, open_store
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.manifest.v1 import AgentManifest
from orgkernel.operations.agents import record_result
from orgkernel.operations.commissions import CommissionOrder, commission_agents
from orgkernel.operations.context import OPERATOR, Context, build_actor
from orgkernel.operations.crew import EpisodeDraft, record_episode
from orgkernel.toolbox.providers import HttpApi, McpServer
from orgkernel.toolbox.result import ToolResult
from orgkernel.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

ORG, ROLE, AGENT, INTENT = "starship", "social_media_marketer", "quill", "create_linkedin_post"
SENTENCE = "Please write a LinkedIn post about the new memory service"
POST_TOOL, CAMPAIGN_TOOL, INSIGHTS_TOOL = "linkedin_post_api", "linkedin_campaign_api", "audience_insights"
TEST = "brand_safety"
ADDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "linkedin")
POST = {
    "content": "Our memory service now forgets on purpose. What it keeps, it keeps for a reason.",
    "audience": "engineers",
    "hashtags": ["#memory", "#agents"],
}

Tell = Callable[[str, str, tuple[Why, ...]], None]


class ScenarioOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the scenario, for tests."""

    findings: tuple[str, ...]
    new_skills: tuple[str, ...]
    role_by_intent: str | None
    role_by_sentence: str | None
    tier: str
    skill: str
    published: tuple[dict[str, Any], ...]
    insights: ToolResult
    publishing: ToolResult
    removing: ToolResult
    campaign_before: ToolResult
    campaign_after: ToolResult
    outage: ToolResult
    before: AgentManifest
    after: AgentManifest


def add_documents(folder: str) -> list[str]:
    """Copy the starship to a folder that does not exist yet, and add what the new job needs. Returns the added files."""
    shutil.copytree(os.path.join(get_shipped_folder("templates"), "starship"), folder)
    org = os.path.join(folder, "org.yaml")
    with open(org, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(os.path.join(ADDED, "org.lines.yaml"), encoding="utf-8") as file:
        wanted = yaml.safe_load(file)
    for each in wanted:
        place = lines.index(each["after"])
        indent = " " * (len(each["after"]) - len(each["after"].lstrip()) or 2)
        lines[place + 1 : place + 1] = [indent + line for line in each["add"].splitlines()]
    with open(org, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    added = ["org.yaml (9 lines)"]
    for root, _, names in os.walk(ADDED):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(root, name), ADDED)
            if path != "org.lines.yaml":
                os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
                shutil.copyfile(os.path.join(root, name), os.path.join(folder, path))
                added.append(path)
    return added


@contextmanager
def _open_kernel_and_store(folder: str) -> Iterator[tuple[Kernel, Store]]:
    with open_store(locate_store(find_project(folder), folder, environment={})) as store:
        yield Kernel.open(folder, active=ORG, store=store), store


def _build_toolbox(kernel: Kernel, store: Store, service: PostService, insights: InsightsServer) -> Toolbox:
    """Build the toolbox as a host does: the host names the provider of each tool, and orgkernel decides who may call it."""
    bearer = {"authorization": ("linkedin", "Bearer ")}
    routes = {"list": "GET /posts", "publish": "POST /posts", "remove": "DELETE /posts/{id}"}
    return Toolbox(
        kernel,
        {
            POST_TOOL: HttpApi(service.url, routes, credential_headers=bearer),
            CAMPAIGN_TOOL: HttpApi(service.url, "POST /campaigns", credential_headers=bearer),
            INSIGHTS_TOOL: McpServer(insights.url, "audience_insights"),
            "post_queue": McpServer(insights.url, "post_queue"),
        },
        store=store,
        credentials={"linkedin": TOKEN}.get,
    )


def run(folder: str, tell: Tell) -> ScenarioOutcome:
    """Play the scenario in a folder that does not exist yet. Raises `UsageError` if a required part is not installed."""
    _require_parts()
    added = add_documents(folder)
    tell("documents", f"added to the starship: {', '.join(added)}", ())
    with (
        run_insights() as server,
        run_service() as service,
        _open_kernel_and_store(folder) as (kernel, store),
    ):
        findings = tuple(str(each) for each in kernel.check())
        tell("check", f"{len(findings)} findings", ())
        before = kernel.agent_manifest(ORG, AGENT)
        context = Context(kernel, store, build_actor(OPERATOR))

        (commission,) = commission_agents(context, [CommissionOrder(agent=AGENT, role=ROLE)]).commissions
        tell("agent", f"{AGENT} is {commission.outcome}: {commission.did}", ())
        for step in commission.steps:
            tell(step.step, step.text, step.why[:1])

        by_intent = kernel.dispatch(ORG, intent=INTENT)
        tell("dispatch", f"intent `{INTENT}` goes to `{by_intent.role_id}`", by_intent.reasons[0].why)
        by_sentence = kernel.dispatch(ORG, text=SENTENCE)
        tell("dispatch", f'"{SENTENCE}" goes to `{by_sentence.role_id}`', by_sentence.reasons[0].why)
        way = kernel.handle(ORG, HandlingRequest(f"agent:{AGENT}", INTENT))
        tell(
            "handle",
            f"by {way.tier.replace('_', ' ')} `{way.name}`: {way.reasons[0].text}",
            way.reasons[0].why,
        )

        server.wait()
        tools = _build_toolbox(kernel, store, service, server).context(ORG, f"agent:{AGENT}")
        insights = tools.invoke_blocking(INSIGHTS_TOOL, {"topic": "memory"})
        tell("MCP", f"{INSIGHTS_TOOL}: {insights.output or insights.error}", ())
        publishing = tools.invoke_blocking(POST_TOOL, POST, action="publish")
        may = kernel.why(ORG, AccessRequest(f"agent:{AGENT}", "publish", f"tool:{POST_TOOL}"))
        tell("HTTP", f"{POST_TOOL}: {publishing.output or publishing.error}", may.reasons[0].why)
        _record(context, way.name, publishing)

        removing = tools.invoke_blocking(POST_TOOL, {"id": "post-1"}, action="remove", fallback=False)
        tell("refused", _render_refusal(removing), removing.steps[0].why[:2])
        campaign_before = tools.invoke_blocking(CAMPAIGN_TOOL, {"id": "post-1"}, fallback=False)
        tell("refused", _render_refusal(campaign_before), campaign_before.steps[0].why[:2])
        passed = record_result(context, AGENT, TEST, 0.86, org=ORG, reason="the board of the bridge")
        tell("test", f"{TEST}: {passed.score:g}, passed", ())
        campaign_after = tools.invoke_blocking(CAMPAIGN_TOOL, {"id": "post-1"}, fallback=False)
        tell("HTTP", f"{CAMPAIGN_TOOL}: {campaign_after.output or campaign_after.error}", ())

        service.stop()
        outage = tools.invoke_blocking(POST_TOOL, POST, action="publish")
        for each in outage.steps:
            tell("outage", f"{each.who}: {each.outcome}{f' ({each.code})' if each.code else ''}", ())
        after = kernel.agent_manifest(ORG, AGENT)
        _tell_manifest(after, tell)
        return ScenarioOutcome(
            findings=findings,
            new_skills=commission.new_skills,
            role_by_intent=by_intent.role_id,
            role_by_sentence=by_sentence.role_id,
            tier=way.tier,
            skill=way.name,
            published=tuple(service.published),
            insights=insights,
            publishing=publishing,
            removing=removing,
            campaign_before=campaign_before,
            campaign_after=campaign_after,
            outage=outage,
            before=before,
            after=after,
        )


def _require_parts() -> None:
    """Raise `UsageError` if what calls tools is not installed."""
    missing = [name for name in ("cryptography", "httpx2", "mcp") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the demo commissions an agent and calls tools, and {listing(missing)} is not installed",
            "install the extras `http`, `mcp` and `signing`: `pip install '.[http,mcp,signing]'` in a checkout",
        )


def _record(context: Context, skill: str, result: ToolResult) -> None:
    """The one write after a piece of work."""
    digest = hashlib.sha256(POST["content"].encode()).hexdigest()  # type: ignore[attr-defined]
    draft = EpisodeDraft(
        outcome="success" if result.outcome == "done" else "failure",
        role=ROLE,
        intent=INTENT,
        tier="T2",
        cognitive_skill=skill,
        skills=("social_media_post_writing", "content_creation"),
        tools=(INSIGHTS_TOOL, POST_TOOL),
        reference="page:post-1",
        digest=digest,
    )
    record_episode(context, AGENT, draft, org=ORG)


def _render_refusal(result: ToolResult) -> str:
    step = result.steps[0]
    way_out = f"; would be allowed by: {step.remedies[0]}" if step.remedies else ""
    return f"{result.tool} {result.action}: {step.text}{way_out}"


def _tell_manifest(manifest: AgentManifest, tell: Tell) -> None:
    profile, service = manifest.skill_profile, manifest.service_record
    held = (*profile.universal, *profile.role, *profile.acquired)
    roles = ", ".join(role.id for role in manifest.roles)
    rank = manifest.rank.id if manifest.rank else "no rank"
    tell("manifest", f"{manifest.callsign}: {roles}, {rank}", manifest.why)
    tell("manifest", f"trust {manifest.promotion.trust}", ())
    for skill in profile.role:
        tell(
            "manifest",
            f"skill {skill.skill}: level {skill.level}, exercises: {skill.exercises}",
            skill.why[:1],
        )
    tell("manifest", f"{len(held)} skills in all", ())
    for tool in manifest.tools:
        if actions := (*tool.allowed_actions, *tool.conditional_actions):
            depends = f"; depends on {tool.conditional}" if tool.conditional else ""
            tell("manifest", f"tool {tool.id}: {tool.letters}, {', '.join(actions)}{depends}", tool.why[:1])
    tell("manifest", f"episodes: {service.total_episodes}, successful: {service.successes}", ())
    for each in manifest.recent_activity:
        tell("manifest", f"{each.kind} {each.name}: {each.successes} of {each.successes + each.failures}", ())
