"""The effect that users are told: counted in a chat, said at the end of a turn, kept as totals of the host."""

from __future__ import annotations

import json
import subprocess
import sys
import timeit
from pathlib import Path
from types import SimpleNamespace

import pytest

from extension.host import effect as of_host
from orgkernel.exchange.agent_zero.installer import install, uninstall
from orgkernel.exchange.agent_zero.status import read_status
from orgkernel.runtime.effect_counts import EffectCounts, HostEffect
from tests.agent_zero.double import build_host
from tests.agent_zero.installing import EXTENSION, activate
from tests.agent_zero.saying import answer, call, org_lines
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY

BUG = "Fix the bug in parser.py"
KEY = "sk-or-v1-" + "0a1b2c3d" * 8


@pytest.fixture
def generation():
    """Counting is the same in all of them."""
    return "G3"


def effect_of(root: Path) -> dict:
    return json.loads((root / "usr/organizations/effect.json").read_text(encoding="utf-8"))


@pytest.fixture
def counting(started):
    """A host in which hooks of ours count something in each turn, and its chat."""
    activate(started.root)
    from usr.organizations.lib.orgkernel_agent_zero import effect

    agent = started.host.open_chat()

    def turn(*, characters: int = 0, refused: dict | None = None) -> None:
        def tool(**_):
            if characters:
                effect.note_prompt(agent, None, "bugfix_specialist", characters)
            if refused is not None:
                effect.note_refusal(agent, None, "bugfix_specialist", "odd_tool", "go", refused)
            return "fixed"

        started.host.tools["input"] = tool
        started.host.say(agent, BUG, [call("input", keyboard="x"), answer()])

    return SimpleNamespace(**vars(started), agent=agent, turn=turn, effect=effect)


def told(agent) -> list[str]:
    return [line for line in org_lines(agent) if line.startswith("Effect: ")]


def test_the_end_of_a_turn_says_what_changed_and_writes_totals(counting):
    """What refused calls would have touched is masked; the chat's log has it, and so has the file."""
    counting.turn(characters=40_000, refused={"path": f"/srv/{KEY}", "content": "private"})
    line = told(counting.agent)[-1]
    assert "tokens spared" in line
    assert "1 call refused" in line
    assert "/srv/sk-o***" in line
    kept = effect_of(counting.root)
    assert kept["applied"]["characters_spared"] >= 40_000
    assert kept["applied"]["refused_by_tool"]["odd_tool"] == 1
    text = json.dumps(kept)
    assert "private" not in text
    assert "0a1b2c3d" not in text
    counting.turn(characters=4_000)
    assert "in this chat so far" in told(counting.agent)[-1]
    assert effect_of(counting.root)["applied"]["characters_spared"] >= 44_000
    assert not [key for key in counting.agent.context.data if "effect" in key and not key.startswith("_")]


def test_under_observe_it_is_what_would_have_happened(started):
    """Observed refusals are counted separately from real ones."""
    activate(started.root, enforcement="observe")
    from usr.organizations.lib.orgkernel_agent_zero import effect

    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    effect.note_prompt(agent, None, "bugfix_specialist", 4_000)
    effect.note_refusal(agent, None, "bugfix_specialist", "odd_tool", None, {})
    started.host.say(agent, BUG)
    kept = effect_of(started.root)
    assert kept["applied"] == EffectCounts().as_json()
    assert kept["would_have"]["refused_by_tool"]["odd_tool"] == 1
    assert "would have: about" in told(agent)[-1]


@pytest.mark.parametrize("content", ["{", "[]", '{"_schema": "orgkernel:effect", "_version": 99}'])
def test_a_file_that_cannot_be_read_is_told_and_kept(counting, content):
    """The turn goes on, the file stays as it is, and the counts are added when it is gone."""
    file = counting.root / "usr/organizations/effect.json"
    file.write_text(content, encoding="utf-8")
    counting.turn(characters=4_000)
    counting.turn(characters=4_000)
    lines = [line for line in org_lines(counting.agent) if line.startswith("effect.json cannot be written")]
    assert len(lines) == 1
    assert file.read_text(encoding="utf-8") == content
    found = counting.effect.read_total_effect(counting.agent)
    assert found[0] is None
    assert "remove it to start counting again" in found[1]
    assert "effect.json cannot be read" in str(read_status(str(counting.root)).effect_problem)
    file.unlink()
    counting.turn(characters=4_000)
    assert effect_of(counting.root)["applied"]["characters_spared"] >= 12_000


ADD = """
import sys
from extension.host import effect
from orgkernel.runtime.effect_counts import EffectCounts, HostEffect
for _ in range(50):
    while (problem := effect.add_to_file(sys.argv[1], HostEffect(EffectCounts(1, 4)))):
        assert "another process" in problem, problem
"""


def test_several_processes_add_up(tmp_path):
    """No count is lost, and nothing is left beside the file."""
    command = [sys.executable, "-c", ADD, str(tmp_path)]
    running = [subprocess.Popen(command, cwd=REPOSITORY) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    found, problem = of_host.read_host_effect(str(tmp_path))
    assert (found.applied.prompts, found.applied.tokens, problem) == (150, 150, "")
    assert [path.name for path in tmp_path.iterdir()] == ["effect.json"]


def test_a_killed_writer_leaves_no_half_file(tmp_path, monkeypatch):
    """It dies in the middle of writing: readers see what was there before, and the next writer cleans up."""
    assert of_host.add_to_file(str(tmp_path), HostEffect(EffectCounts(1, 4))) == ""
    before = (tmp_path / "effect.json").read_bytes()

    def die(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(of_host.os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        of_host.add_to_file(str(tmp_path), HostEffect(EffectCounts(1, 4)))
    monkeypatch.undo()
    assert (tmp_path / "effect.json").read_bytes() == before
    (tmp_path / ".effect.json.new").write_text("half", encoding="utf-8")
    assert of_host.add_to_file(str(tmp_path), HostEffect(EffectCounts(1, 4))) == ""
    assert [path.name for path in tmp_path.iterdir()] == ["effect.json"]
    assert of_host.read_host_effect(str(tmp_path))[0].applied.prompts == 2


def test_counting_is_cheap():
    """A hook counts in every model call: at most 10 µs, with room for a slow machine."""
    agent = SimpleNamespace(context=SimpleNamespace(data={}))
    arguments = {"url": "https://shop.example", "code": "x" * 100_000}
    for work in (
        lambda: of_host.note_prompt(agent, None, "r", 4_000),
        lambda: of_host.note_refusal(agent, None, "r", "t", "a", arguments),
        lambda: of_host.note_role(agent, None, "r"),
        lambda: of_host.note_tier(agent, None, "r", "alternate"),
    ):
        assert min(timeit.repeat(work, number=200, repeat=5)) / 200 < 10e-6


def test_the_status_shows_it_and_uninstalling_removes_it(tmp_path):
    """For people and as JSON."""
    root = build_host(tmp_path / "host", "G3")
    install(str(root), str(EXTENSION), lambda _: None)
    organizations = root / "usr/organizations"
    assert read_status(str(root)).effect is None
    effect = HostEffect(EffectCounts(2, 40_000, 1, {"browser_agent": 1}), since="2026-11-22T10:00:00Z")
    assert of_host.add_to_file(str(organizations), effect) == ""
    (organizations / ".effect.json.new").write_text("half", encoding="utf-8")
    text = run_here("host", "status", "--agent-zero", root, cwd=tmp_path).stdout
    assert "effect:         about 10,000 tokens spared in 2 prompts (since 2026-11-22)\n" in text
    assert "                1 call refused: `browser_agent`\n" in text
    shown = json.loads(
        run_here("host", "status", "--agent-zero", root, "--format", "json", cwd=tmp_path).stdout
    )
    assert shown["effect"]["applied"]["tokens_spared_about"] == 10_000
    uninstall(str(root), lambda _: None)
    assert not [path for path in root.rglob("*") if "effect" in path.name]
