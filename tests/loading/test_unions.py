"""Sources of one format in a tree are one organization: what several of them declare is kept apart, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

from orgkernel import Kernel
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.in_process import run_here
from tests.support.trees import write_tree


def skill(name: str, text: str) -> str:
    """The SKILL.md of a skill."""
    return f"---\nname: {name}\ndescription: Watches a request. Use it after opening one.\n---\n{text}\n"


def card(skill_id: str) -> str:
    """An agent card with one skill."""
    return json.dumps(
        {
            "name": "Money Desk",
            "description": "Converts money. Use it for currencies.",
            "url": "http://localhost:1",
            "version": "1",
            "protocolVersion": "0.3.0",
            "capabilities": {},
            "defaultInputModes": ["text"],
            "defaultOutputModes": ["text"],
            "skills": [
                {
                    "id": skill_id,
                    "name": "Convert",
                    "description": f"Converts with {skill_id}.",
                    "tags": ["a"],
                    "examples": [f"What are 5 coins by {skill_id}?"],
                }
            ],
        }
    )


def read(folder: Path) -> Snapshot:
    """The snapshot of the only organization in a folder."""
    return Kernel.open(folder).organization("active").snapshot


def list_codes(folder: Path) -> list[str]:
    """The codes of the findings in a folder."""
    done = run_here("check", "--format", "json", cwd=folder)
    return [each["code"] for each in json.loads(done.stdout)]


def test_a_skill_that_two_sources_declare_follows_the_standard(tmp_path: Path) -> None:
    """Its name is the one in its file, although its id has the name of its source as a prefix, so both are in service."""
    agent = "---\nname: {0}\ndescription: Does {0}. Use it first.\ntools: Read\n---\nDo {0}.\n"
    files = {
        f"{place}/.claude/{path}": text
        for place in ("one", "two")
        for path, text in {
            f"agents/{place}.md": agent.format(place),
            "skills/watch/SKILL.md": skill("watch", place),
        }.items()
    }
    write_tree(tmp_path, files)
    assert list_codes(tmp_path) == []
    done = run_here("skill", "list", "--subject", "role:one", cwd=tmp_path)
    assert "one__watch" in done.stdout, done.stderr


def test_a_wrong_name_of_such_a_skill_is_shown_as_people_know_it(tmp_path: Path) -> None:
    """The message has the source and the name in the file."""
    files = {f"{place}/.agents/skills/watch/SKILL.md": skill("Watch_It", place) for place in ("one", "two")}
    done = run_here("check", "--format", "concise", cwd=write_tree(tmp_path, files))
    assert "skill `one:Watch_It` has an invalid name" in done.stdout
    assert "__" not in done.stdout


def test_two_cards_of_one_name_are_two_agents(tmp_path: Path) -> None:
    """Also if both have a skill of one name: each agent keeps its own."""
    write_tree(tmp_path, {f"{place}/agent-card.json": card("convert") for place in ("one", "two")})
    assert "ORG217" not in list_codes(tmp_path)
    index = read(tmp_path).index
    skills = [each for post in index.records.posts.values() for each in post.profile.capabilities.skills]
    assert len(set(skills)) == len(skills) == 2
    assert set(skills) <= set(index.records.skills)


def test_handoffs_of_agents_that_two_sources_declare(tmp_path: Path) -> None:
    """The channel of each source names its own agents."""
    lead = "---\nname: Lead\ndescription: Leads {0}.\nhandoffs:\n  - {{label: Go, agent: Helper {0}, prompt: Go}}\n---\nLead.\n"
    helper = "---\nname: Helper {0}\ndescription: Helps {0}.\n---\nHelp.\n"
    files = {
        f"{place}/{name}.agent.md": text.format(place)
        for place in ("one", "two")
        for name, text in {"lead": lead, "helper": helper}.items()
    }
    write_tree(tmp_path, files)
    assert "ORG216" not in list_codes(tmp_path)
    channels = read(tmp_path).index.records.organization.communication_channels
    pairs = [pair for each in channels.values() for pair in each.allowed_pairs]
    assert [first for first, _ in pairs] == ["one__Lead", "two__Lead"]


def test_a_repeated_skill_is_counted_once(tmp_path: Path) -> None:
    """A place with the same skills as another one has none of its own, and the table says so."""
    files = {f"{place}/.agents/skills/watch/SKILL.md": skill("watch", "Look.") for place in ("one", "two")}
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert done.stderr.splitlines()[1:3] == ["Agent Skills  1 skill   one", "Agent Skills  0 skills  two"]
    assert done.returncode == 0
