"""What a text shows is judged with its context: guesses are warnings, code is no secret, and tokens stay errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.trees import write_tree

AGENT = "---\nname: a\ndescription: Use it first.\ntools: Read\n---\n"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("stakingToken = IERC20(_stakingToken);", None),
        ("secret = os.getenv1(NAME_1)", None),
        ("token = client2.get_token2(user_id1, scope)", None),
        ("key = base64.urlsafe_b64decode(key.encode())", None),
        ("stored_key = base64.b64decode(stored_hash['hash'])", None),
        ("token = hashlib.sha256(data.encode()).hexdigest()[:self.config.length]", None),
        ("token = aB3xK9Zq(pQ7rT2wY5", "warning"),
        ('password = "aB3dE5gH7jK9mN2p"', "warning"),
        ('api_key = "aB3dE5gH7jK9mN2p(x)"', "warning"),
        ("password = aB3dE5gH7(jK9mN2pQ4", "warning"),
        ("postgresql://admin:hunter2x9@db.example:5432/main", "warning"),
        ("Authorization: Bearer aB3dE5gH7jK9mN2pQ4rS", "warning"),
        (f"export TOKEN={TOKEN}", "error"),
        (f"Use {TOKEN}.", "error"),
    ],
)
def test_a_text_with_an_example(tmp_path: Path, text: str, severity: str | None) -> None:
    """In the text of an agent and of a skill. The agent answers in any case."""
    skill = f"---\nname: s\ndescription: Use it first.\n---\n```\n{text}\n```\n"
    write_tree(tmp_path, {".claude/agents/a.md": f"{AGENT}{text}\n", ".claude/skills/s/SKILL.md": skill})
    done = run_here("check", "--select", "ORG704", "--format", "json", cwd=tmp_path)
    severities = [each["severity"] for each in json.loads(done.stdout)]
    assert severities == ([severity] * 2 if severity else [])
    assert "aB3dE5gH7" not in done.stdout
    assert run_here("can", "role:a", "use", "tool:Read", cwd=tmp_path).stdout.startswith("allow")


def test_a_field_is_no_prose(tmp_path: Path) -> None:
    """A value in a document stays an error, whatever it is recognized by."""
    text = '_schema: orgkernel:role_profile\nrole_id: a\nstanding_orders: ["password = aB3dE5gH7jK9mN2p"]\n'
    write_tree(tmp_path, {"a.yaml": text})
    done = run_here("check", "--select", "ORG704", "--format", "json", cwd=tmp_path)
    assert [each["severity"] for each in json.loads(done.stdout)] == ["error"]
