"""Standing orders, skills and their files over HTTP and on the command line, and what a change of a file does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.work.capability.handling import HandlingRequest
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.cache import Cache
from orgkernel.snapshots.roots import resolve_paths
from tests.api.keys import bearer, location_of, new_key
from tests.support.in_process import run_here
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = Path(__file__).parents[1] / "decisions" / "capability_corpus" / "press.yaml"
FILES: dict[str, str] = read_yaml_file(CORPUS)["files"] | {
    "standing_orders/departments/newsroom.md": "Check twice.\n",
    "skills/summarize/assets/seal.bin": "\x00ÿ",
}
TOP = "/v1/orgs/press"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path, FILES)


def client_of(kernel: Kernel) -> TestClient:
    return TestClient(create_app(kernel), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))


def test_orders_are_composed_from_the_federation_down(folder: Path) -> None:
    """In order of precedence, each with its file and digest, the same on every surface."""
    kernel = Kernel.open(folder)
    orders = kernel.standing_orders("press", "writer")
    assert [(part.source, part.target, part.text) for part in orders.sections] == [
        ("federation", "", "Do no harm.\n"),
        ("organization", "press", "Be kind.\n"),
        ("department", "newsroom", "Check twice.\n"),
        ("department", "newsroom", "Be brief.\n"),
        ("role", "writer", "Be clear.\n"),
        ("profile", "writer", "- Sign what you write.\n"),
    ]
    assert all(len(part.sha256) == 64 and part.file.endswith((".md", ".yaml")) for part in orders.sections)
    response = client_of(kernel).get(f"{TOP}/roles/writer/standing-orders")
    assert response.headers["etag"]
    assert response.json()["digest"] == orders.digest
    done = run_here(
        "role", "orders", "writer", "--org", "press", "--path", str(folder), "--format", "json", cwd=folder
    )
    assert json.loads(done.stdout)["digest"] == orders.digest
    text = run_here("role", "orders", "writer", "--org", "press", "--path", str(folder), cwd=folder).stdout
    assert text.index("Do no harm.") < text.index("Be kind.") < text.index("- Sign what you write.")
    assert [part.source for part in kernel.standing_orders("press", "chief").sections] == [
        "federation",
        "organization",
    ]


def test_the_digest_follows_every_order_and_nothing_else(folder: Path) -> None:
    """A reload reads changed orders and new skills; other files change no digest."""
    kernel = Kernel.open(folder)
    before = kernel.standing_orders("press", "writer").digest
    (folder / "press/roles/runner.yaml").write_text(FILES["press/roles/runner.yaml"] + "# changed\n")
    kernel.reload()
    assert kernel.standing_orders("press", "writer").digest == before
    (folder / "press/standing_orders/organization.md").write_text("Be kind, always.\n")
    write_tree(
        folder,
        {"press/skills/translate/SKILL.md": "---\nname: translate\ndescription: Translates.\n---\nDo.\n"},
    )
    kernel.reload()
    assert kernel.standing_orders("press", "writer").digest != before
    assert kernel.cognitive_skill("press", "role:chief", "translate").activation.body == "Do.\n"


def test_an_order_that_cannot_be_read_keeps_the_last_good_version(folder: Path) -> None:
    """If a file of orders cannot be read, the last valid version stays in force. If a skill cannot be read, no
    role has it.
    """
    kernel = Kernel.open(folder)
    (folder / "standing_orders/federation.md").write_bytes(b"\xff\xfe")
    kernel.reload()
    assert kernel.organization("press").stale
    assert kernel.standing_orders("press", "writer").sections[0].text == "Do no harm.\n"
    (folder / "standing_orders/federation.md").write_text("Do no harm.\n")
    (folder / "skills/summarize/SKILL.md").write_text("no front matter")
    kernel.reload()
    assert not kernel.organization("press").stale
    assert (
        kernel.cognitive_skill("press", "role:chief", "summarize").activation.reasons[0].code
        == "SKILL_UNKNOWN"
    )


def test_a_file_of_a_skill_is_read_only_by_subjects_that_may_activate_it(folder: Path) -> None:
    """Text as it is, other bytes in base64; never for others, and never from elsewhere."""
    client = client_of(Kernel.open(folder))

    def get(path: str, subject: str, name: str = "summarize") -> Any:
        response = client.get(f"{TOP}/skills/{name}/resources/{path}", params={"subject": subject})
        assert response.status_code == 200, response.text
        assert "etag" not in response.headers  # the file may change while the version does not
        return response.json()

    found = get("assets/seal.bin", "role:runner")
    assert (found["outcome"], found["encoding"], found["size"]) == ("allow", "utf-8", 3)
    (folder / "skills/summarize/assets/seal.bin").write_bytes(b"\xff\x00")
    assert get("assets/seal.bin", "role:runner")["content"] == "/wA="
    denied = get("references/style.md", "role:runner", "write-posts")
    assert (denied["outcome"], denied["content"]) == ("deny", "")
    assert denied["reasons"][0]["code"] == "SKILL_OF_OTHER_DEPARTMENT"
    for path, code in {
        "nothing.md": "SKILL_FILE_UNKNOWN",
        "%2e%2e/%2e%2e/press/org.yaml": "SKILL_FILE_UNSAFE",
        "SKILL.md": "SKILL_FILE_UNSAFE",
    }.items():
        assert get(path, "role:runner")["reasons"][0]["code"] == code
    asked = {"subject": "role:runner"}
    assert client.get(f"{TOP}/skills/summarize/resources/..%2forg.yaml", params=asked).status_code == 404
    (folder / "skills/summarize/large.txt").write_bytes(b"a" * (1024 * 1024 + 1))
    assert get("large.txt", "role:runner")["reasons"][0]["code"] == "SKILL_FILE_TOO_LARGE"
    words = [
        "skill",
        "show",
        "summarize",
        "--subject",
        "role:runner",
        "--org",
        "press",
        "--path",
        str(folder),
    ]
    done = run_here(*words, "--resource", "assets/seal.bin", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "2 bytes\n")
    assert run_here(*words, "--resource", "../x", cwd=folder).returncode == 1


def test_what_cannot_have_failed_is_refused(folder: Path) -> None:
    """A misspelled tier would otherwise be without effect."""
    kernel = Kernel.open(folder)
    client = client_of(kernel)
    for failed in ("executable_skil:publish_post", "executable_skill", "reasoning:x", "decline"):
        body = {"subject": "role:writer", "intent": "create_post", "failed": [failed]}
        response = client.post(f"{TOP}/handle", json=body)
        assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")
        assert "cannot be reported as failed" in response.json()["detail"]
    assert client.get(f"{TOP}/skills").status_code == 422
    assert client.post(f"{TOP}/handle", json={"subject": "role:writer"}).status_code == 422
    with pytest.raises(UsageError):
        kernel.handle("press", HandlingRequest("role:writer", "create_post", failed=("tool",)))


def test_texts_of_the_commands(folder: Path) -> None:
    """Each line names what decided."""
    where = ["--org", "press", "--path", str(folder)]
    handled = run_here("handle", "create_post", "--subject", "role:writer", *where, cwd=folder).stdout
    assert handled.splitlines()[0] == "create_post → executable skill publish_post, level 4, without a model"
    assert "not cognitive skill write-posts: skill `write-posts` needs level 3 of `writing`" in handled
    assert "press/skills/write-posts/SKILL.md:7" in handled
    assert (
        handled.splitlines()[-1]
        == "  if it fails: own reasoning role:writer, peer agent:dan, peer agent:ann, superior role:chief, top person:user"
    )
    listed = run_here("skill", "list", "--subject", "role:runner", *where, cwd=folder).stdout
    assert "summarize  Summarizes long texts. Use it for reports." in listed
    shown = run_here("skill", "show", "write-posts", "--subject", "role:runner", *where, cwd=folder)
    assert shown.stdout.startswith("deny: skill write-posts for role:runner\n  because ")
    proposed = run_here("skill", "proposals", *where, cwd=folder)
    assert (proposed.returncode, proposed.stdout) == (
        1,
        "a proposal needs 5 successes, and 90% of all outcomes must be successes\n",
    )


def test_the_key_of_an_agent_opens_its_own_skills_only(folder: Path, tmp_path: Path) -> None:
    """The key of an agent reads only the skills of that agent, because it could otherwise name an agent with more
    skills.
    """
    place = location_of(tmp_path / "state.db")
    key = new_key(place, ["read"], agent="bob")
    app = create_app(Kernel.open(folder), store=place)
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)) as client:
        for path in ("lead-posts", "write-posts/resources/references/style.md"):
            asked = {"subject": "agent:ann"}
            refused = client.get(f"{TOP}/skills/{path}", params=asked, headers=bearer(key))
            assert (refused.status_code, refused.json()["code"]) == (403, "OTHER_SUBJECT")
        own = client.get(
            f"{TOP}/skills/lead-posts", params={"subject": "agent:bob"}, headers=bearer(key)
        ).json()
        assert own["activation"]["reasons"][0]["code"] == "SKILL_RANK_TOO_LOW"
        shown = client.get(f"{TOP}/skills/lead-posts", params={"subject": "agent:ann"}).json()
        assert shown["activation"]["body"] == "Plan it.\n"


def test_a_version_from_the_cache_discloses_the_same(folder: Path, tmp_path: Path) -> None:
    """Skills, orders, edges and findings come back as they were."""
    request = resolve_paths([str(folder)], str(tmp_path))
    cold = Kernel(request, cache=Cache(str(tmp_path / "cache")))
    cold.save()
    warm = Kernel(request, cache=Cache(str(tmp_path / "cache")))
    assert warm.check() == cold.check()
    for ask in (
        lambda kernel: kernel.standing_orders("press", "writer"),
        lambda kernel: kernel.cognitive_skills("press", "agent:ann"),
        lambda kernel: kernel.cognitive_skill("press", "role:runner", "summarize"),
        lambda kernel: kernel.handle("press", HandlingRequest("agent:ann", "create_post")),
    ):
        assert ask(warm) == ask(cold)


def test_what_is_stored_opens_a_skill_and_proposes_one(folder: Path) -> None:
    """In a real store: a skill that an agent learns opens the gate, and recorded work makes a proposal."""
    where = ["--org", "press", "--path", str(folder), "--store", str(folder / "state.db")]

    def run(*words: str) -> Any:
        done = run_here(*words, *where, "--format", "json", cwd=folder)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    show = ("skill", "show", "write-posts", "--subject", "agent:ann")
    assert run(*show)[0] == 1
    assert run("agent", "acquire", "ann", "writing", "--level", "3")[0] == 0
    assert run(*show)[1]["activation"]["card"]["proficiency"] == 3
    record = ("agent", "record", "ann", "--outcome", "success", "--cognitive-skill")
    code, said = run(*record, "sumarize")
    assert (code, "did you mean `summarize`" in said) == (2, True)
    for _ in range(5):
        assert run(*record, "summarize")[0] == 0
    code, found = run("skill", "proposals")
    assert (code, found["proposals"][0]["skill"], found["proposals"][0]["successes"]) == (0, "summarize", 5)
