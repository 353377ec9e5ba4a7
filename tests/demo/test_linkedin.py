"""The canonical scenario (the crew capability specification, section 15): a social media marketer from configuration alone, on real servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from orgkernel.cli import cli
from orgkernel.decisions.reasons import Why
from orgkernel.demo.scenario import ADDED, AGENT, POST, ROLE, ScenarioOutcome, add_documents, run
from tests.support.trees import TEMPLATES

SKILLS = ("content_creation", "social_media_post_writing", "audience_analysis", "brand_voice_adherence")


@pytest.fixture(scope="module")
def told() -> list[tuple[str, str]]:
    """What is said while the scenario is played."""
    return []


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, str]]) -> ScenarioOutcome:
    """The scenario, played once."""

    def tell(step: str, text: str, why: tuple[Why, ...]) -> None:
        told.append((step, text))

    return run(str(tmp_path_factory.mktemp("demo") / "starship"), tell)


def test_only_yaml_and_one_skill_are_added(tmp_path: Path) -> None:
    """What the template has stays as it is, except for lines that org.yaml gains."""
    add_documents(str(tmp_path / "ship"))
    before = {path.relative_to(TEMPLATES / "starship") for path in (TEMPLATES / "starship").rglob("*.*")}
    after = {path.relative_to(tmp_path / "ship") for path in (tmp_path / "ship").rglob("*.*")}
    assert before < after
    assert {path.suffix for path in after - before} == {".yaml", ".md"}
    assert [path.name for path in after - before if path.suffix == ".md"] == ["SKILL.md"]
    kept = (TEMPLATES / "starship" / "org.yaml").read_text().splitlines()
    lines = (tmp_path / "ship" / "org.yaml").read_text().splitlines()
    assert [line for line in lines if line in kept] == kept
    assert not list(Path(ADDED).rglob("*.py"))


def test_1_an_agent_with_a_new_role_needs_no_code(outcome: ScenarioOutcome) -> None:
    """The documents are free of findings, and the agent has its identity and its post."""
    assert outcome.findings == ()
    assert outcome.before.did is None
    assert (outcome.after.did or "").startswith("did:key:z6Mk")
    assert [role.id for role in outcome.after.roles] == [ROLE]
    assert [each.id for each in outcome.after.departments] == ["communications"]
    assert outcome.after.service_record.born_at is not None


def test_2_skills_come_from_the_role_in_the_order_of_their_prerequisites(outcome: ScenarioOutcome) -> None:
    """The four skills of the role are new, and what a skill presupposes comes before it."""
    assert set(SKILLS) < set(outcome.new_skills)
    assert outcome.new_skills.index("content_creation") < outcome.new_skills.index(
        "social_media_post_writing"
    )
    assert outcome.before.skill_profile.role == ()
    assert {each.skill for each in outcome.after.skill_profile.role} == set(SKILLS)


def test_3_the_intent_and_the_sentence_find_the_agent(outcome: ScenarioOutcome) -> None:
    """Both are routed to the role, and the agent handles the intent by its SKILL.md."""
    assert (outcome.role_by_intent, outcome.role_by_sentence) == (ROLE, ROLE)
    assert (outcome.tier, outcome.skill) == ("cognitive_skill", "linkedin-post")


def test_4_tools_are_called_with_a_decision_in_every_call(outcome: ScenarioOutcome) -> None:
    """What rank and tests allow reaches the servers. What they do not allow does not, and says what would change that."""
    assert (outcome.insights.outcome, outcome.insights.output["topic"]) == ("done", "memory")
    assert (outcome.publishing.outcome, outcome.publishing.output) == ("done", {"id": "post-1"})
    assert outcome.published == (POST,)
    assert (outcome.removing.outcome, outcome.removing.code) == ("denied", "RANK_TOO_LOW")
    assert outcome.removing.steps[0].remedies
    assert (outcome.campaign_before.outcome, outcome.campaign_before.code) == (
        "denied",
        "QUALIFICATION_MISSING",
    )
    assert outcome.campaign_after.outcome == "done"


def test_a_tool_that_is_out_goes_down_the_cascade(outcome: ScenarioOutcome) -> None:
    """The next registered tool takes over, with a decision of its own."""
    steps = [(each.kind, each.who, each.outcome) for each in outcome.outage.steps]
    assert steps == [
        ("tool", "tool:linkedin_post_api", "unavailable"), ("alternative", "tool:post_queue", "done"),
    ]  # fmt: skip
    assert outcome.outage.by == "tool:post_queue"


def test_5_exercise_trust_and_episode_are_recorded(outcome: ScenarioOutcome) -> None:
    """One piece of work counts for the skills that it exercised, for trust and for the record."""
    skills = {each.skill: each for each in outcome.after.skill_profile.role}
    assert {name: each.exercises for name, each in skills.items()} == {
        "content_creation": 1, "social_media_post_writing": 1, "audience_analysis": 0, "brand_voice_adherence": 0,
    }  # fmt: skip
    assert skills["brand_voice_adherence"].level == 2  # raised by the test
    trust = outcome.after.promotion.trust
    assert (trust.successes, trust.failures, trust.alpha, trust.beta) == (1, 0, 3.0, 2.0)
    service = outcome.after.service_record
    assert (service.total_episodes, service.success_rate) == (1, 1.0)


def test_6_one_manifest_shows_role_skills_tools_and_activity(outcome: ScenarioOutcome) -> None:
    """Everything is in the answer to one question, each item with its lines."""
    manifest = outcome.after
    # Every call with content has to keep to its limit, so the post is conditional.
    tools = {each.id: (each.allowed_actions, each.conditional_actions) for each in manifest.tools}
    assert tools["linkedin_post_api"] == ((), ("list", "publish"))
    assert tools["linkedin_campaign_api"] == (("use",), ())
    posting = next(each for each in manifest.tools if each.id == "linkedin_post_api")
    assert posting.conditional == "input:`content` is longer than 3000 characters"
    assert [each.name for each in manifest.cognitive_skills][:1] == ["linkedin-post"]
    assert {(each.kind, each.name) for each in manifest.recent_activity} == {
        ("intent", "create_linkedin_post"), ("cognitive_skill", "linkedin-post"), ("tool", "audience_insights"),
        ("tool", "linkedin_post_api"),
    }  # fmt: skip
    assert all(each.why for each in (*manifest.roles, *manifest.tools, *manifest.skill_profile.role))


def test_every_step_is_told(outcome: ScenarioOutcome, told: list[tuple[str, str]]) -> None:
    """The narration has each part of the scenario, in its order."""
    steps = list(dict.fromkeys(step for step, _ in told))
    assert steps == [
        "documents", "check", "agent", "post", "skills", "tools", "qualifications", "procedures", "standing_orders",
        "agency", "dispatch", "handle", "MCP", "HTTP", "refused", "test", "outage", "manifest",
    ]  # fmt: skip
    assert all(text for _, text in told)
    assert (outcome.after.agent_id, AGENT) == (AGENT, "quill")


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """The command writes only into a new folder."""
    done = CliRunner().invoke(cli, ["demo", "--keep", str(tmp_path)])
    assert done.exit_code == 2
    assert "already exists" in done.stderr
    assert list(tmp_path.iterdir()) == []
