"""EffectCounts of an organization's effect: what a call would have touched, bounds, and words."""

from __future__ import annotations

import json

import pytest

from orgkernel.runtime.effect_counts import (
    OTHER,
    EffectCounts,
    HostEffect,
    RefusedCall,
    count_name,
    count_tier,
    describe_touched,
    lines,
    read_effect,
    summary,
)

KEY = "sk-or-v1-" + "0a1b2c3d" * 8


@pytest.mark.parametrize(
    ("arguments", "touched"),
    [
        ({"runtime": "terminal", "code": "rm -rf /srv/data"}, "rm, /srv/data"),
        ({"runtime": "terminal", "code": "git push origin main"}, "git push"),
        ({"runtime": "terminal", "code": "sudo systemctl restart nginx"}, "systemctl restart"),
        ({"runtime": "terminal", "code": "mysql -uroot -phunter2 shop"}, "mysql"),
        ({"runtime": "terminal", "code": "echo hunter2"}, "echo"),
        ({"runtime": "terminal", "code": "PASSWORD=hunter2 ./deploy.sh"}, "./deploy.sh"),
        ({"runtime": "python", "code": "open('/srv/x')"}, "/srv/x"),
        ({"url": "https://ann:hunter2@shop.example:8080/cart?key=1"}, "shop.example:8080"),
        ({"message": f"send it with {KEY} to https://api.example/v1"}, "api.example"),
        ({"path": "notes/today.md", "content": "whole\ntext"}, "notes/today.md"),
        ({"paths": ["a", "b", "c", "d"]}, "a, b, c and 1 more"),
        ({"host": "db.internal"}, "db.internal"),
        ({"path": f"/tmp/{KEY}"}, "/tmp/sk-o" + "*" * 69),
        ({"query": "who owns acme.example"}, ""),
        ({"number": 7, "deep": {"path": "/x"}}, ""),
        ({}, ""),
        (None, ""),
        ("text", ""),
    ],
)
def test_what_a_call_would_have_touched(arguments, touched):
    """Paths, hosts and the program; options, values and whole arguments never."""
    assert describe_touched(arguments) == touched


def test_nothing_secret_or_long_is_shown():
    """Whatever an argument is called."""
    for name in ("code", "path", "url", "command", "anything"):
        shown = describe_touched(
            {name: f"curl -H 'Authorization: Bearer {KEY}' https://x.example/{'y' * 5000}"}
        )
        assert "0a1b2c3d" not in shown
        assert len(shown) < 300


def test_the_size_is_bounded():
    """More names than the bound are one; the newest refusals stay."""
    effect = HostEffect()
    for number in range(1000):
        new = HostEffect(
            EffectCounts(
                1, 400, 1, {f"tool{number}": 1}, {f"role{number}": 1}, {f"role{number}": {"alternate": 1}}
            )
        )
        new.refusals.append(RefusedCall("", "r", f"tool{number}", "x" * 80, True))
        effect.add(new)
    text = json.dumps(effect.as_json())
    assert len(text) < 30_000
    assert effect.refusals[-1].tool == "tool999"
    assert sum(effect.applied.tools.values()) == sum(effect.applied.roles.values()) == 1000
    again = read_effect(json.loads(text))
    assert again.as_json() == effect.as_json()
    assert again.applied.tools[OTHER] == 900


@pytest.mark.parametrize(
    "data", [None, [], {}, {"_schema": "other"}, {"_schema": "orgkernel:effect", "_version": 9}]
)
def test_what_is_no_record_is_an_error(data):
    """Then no process overwrites the file."""
    with pytest.raises(ValueError, match=r"record of effects|another version"):
        read_effect(data)


def test_odd_values_in_a_record_count_as_nothing():
    """A person could have edited the file."""
    odd = {
        "prompts": -3,
        "characters_spared": "many",
        "calls_refused": True,
        "refused_by_tool": ["x"],
        "tiers_reached": {"r": 7},
    }
    data = {
        "_schema": "orgkernel:effect",
        "_version": 1,
        "applied": odd,
        "would_have": 3,
        "last_refusals": [1, {"tool": 3}],
    }
    read = read_effect(data)
    assert read.is_empty()
    assert [each.tool for each in read.refusals] == [""]


def test_the_words():
    """What happened, what would have, and that tokens are about."""
    effect = HostEffect(EffectCounts(3, 40_000), EffectCounts(1, 4_000))
    effect.applied.refusals = 2
    count_name(effect.applied.tools, "browser_agent", 2)
    count_name(effect.applied.roles, "co")
    count_tier(effect.applied.tiers, "co", "alternate")
    effect.refusals = [RefusedCall("", "co", "browser_agent", "shop.example", True)]
    assert (
        summary(effect)
        == "about 10,000 tokens spared, 2 calls refused, would have: about 1,000 tokens spared"
    )
    assert lines(effect, {"co": "Commander"}) == [
        "about 10,000 tokens spared in 3 prompts",
        "2 calls refused: `browser_agent` (2)",
        "they would have touched, last first: shop.example",
        "roles taken: Commander",
        "tiers reached: Commander alternate",
        "would have: about 1,000 tokens spared in 1 prompt",
    ]
    assert (summary(HostEffect()), lines(HostEffect())) == ("", [])
    assert summary(HostEffect(EffectCounts(1, -400))) == "about 100 tokens added"
