"""The plugin's API: what its handlers answer, to good requests and bad ones; and switching off and on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from types import SimpleNamespace

import pytest

from orgkernel.exchange.agent_zero.activation import deactivate
from orgkernel.exchange.agent_zero.status import read_status
from tests.agent_zero.double_web import ApiHandler, load_handler
from tests.agent_zero.installing import activate
from tests.agent_zero.saying import org_lines

BUG = "Fix the bug in parser.py"
FORTY_TWO = 42


@pytest.fixture
def generation():
    """The only one that has plugins."""
    return "G3"


@pytest.fixture
def api(started):
    """Handlers of a running host with one chat without a role."""
    activate(started.root)
    agent = started.host.open_chat()
    agent.context.agent0, agent.context.streaming_agent = agent, None
    chats = {agent.context.id: agent.context}
    sys.modules["agent"].AgentContext = SimpleNamespace(get=chats.get)

    def ask(handler, request):
        return asyncio.run(load_handler(started.root, handler)(None, None).process(request, None))

    return SimpleNamespace(
        ask=ask, agent=agent, chat=agent.context.id, host=started.host, root=started.root,
        folder=started.root / "usr/organizations",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["status", "pin", "switch"])
def test_handlers_keep_the_host_s_protection(started, name):
    """They answer only POST requests, with a login and a CSRF token; the host's checks are not overridden."""
    handler = load_handler(started.root, name)
    assert handler.__bases__ == (ApiHandler,)
    assert set(vars(handler)) - {"__module__", "__doc__", "process"} <= {
        "__firstlineno__",
        "__static_attributes__",
    }


def test_the_state_has_roles_reason_and_effect(api):
    """Everything that the page shows."""
    api.host.say(api.agent, BUG)
    shown = api.ask("status", {"context": api.chat})
    assert (shown["ok"], shown["on"], shown["role_name"]) == (True, True, "Bugfix Specialist")
    assert {"id": "osint_specialist", "name": "OSINT Specialist"} in shown["roles"]
    assert shown["chosen"]
    assert shown["effect"]["chat"]["applied"]["calls_refused"] == 0
    json.dumps(shown)
    assert api.ask("status", {})["why"] == "no chat is open"
    (api.root / "usr/plugins/orgkernel/.toggle-0").touch()
    assert "disabled" in api.ask("status", {})["remarks"][-1]


def test_a_pin_of_the_api_binds_the_next_message(api):
    """And its release lets messages choose again; the chat's log says both."""
    assert api.ask("pin", {"context": api.chat, "role": "osint_specialist"}) == {
        "ok": True,
        "pinned": "osint_specialist",
    }
    assert api.ask("status", {"context": api.chat})["pinned"] == "osint_specialist"
    assert api.ask("pin", {"context": api.chat, "role": None}) == {"ok": True, "pinned": None}
    assert [line.partition(";")[0] for line in org_lines(api.agent)] == [
        "Pinned: OSINT Specialist",
        "Pin released",
    ]


BAD = [
    ("status", [], "not a JSON object"),
    ("status", {"context": FORTY_TWO}, "not the id of a chat"),
    ("status", {"context": "nowhere"}, "no chat `nowhere`"),
    ("pin", None, "not a JSON object"),
    ("pin", {"role": "co"}, "`context` is missing"),
    ("pin", {"context": "CHAT"}, "`role` is missing"),
    ("pin", {"context": "CHAT", "role": FORTY_TWO}, "not the id of a role"),
    ("pin", {"context": "CHAT", "role": " "}, "not the id of a role"),
    ("pin", {"context": "CHAT", "role": "osint_specialst"}, "osint_specialist"),
    ("switch", {}, "neither true nor false"),
    ("switch", {"on": "false"}, "neither true nor false"),
    ("switch", {"on": 0}, "neither true nor false"),
    ("switch", {"on": True}, "already on"),
]


def test_a_bad_request_is_told_what_is_wrong(api):
    """Nothing changes."""
    for handler, request, error in BAD:
        named = isinstance(request, dict) and request.get("context") == "CHAT"
        answer = api.ask(handler, {**request, "context": api.chat} if named else request)
        assert answer["ok"] is False
        assert error in answer["error"]
        assert (api.folder / "active.json").is_file()
        assert api.agent.context.get_data("_orgkernel_pin") is None


def test_off_and_on_again_keep_the_organization(api):
    """At once, in every chat; the status says where it is; twice the same is refused."""
    before = (api.folder / "active.json").read_bytes()
    api.host.say(api.agent, BUG)
    assert api.ask("switch", {"on": False, "context": api.chat}) == {"ok": True, "on": False}
    assert api.ask("switch", {"on": False})["error"] == "It is already off."
    api.host.say(api.agent, "Fix the other bug in parser.py")
    assert api.agent._org_active_role is None
    shown = api.ask("status", {"context": api.chat})
    assert (shown["on"], shown["can_switch_on"], shown["why"]) == (False, True, "it was switched off")
    assert api.ask("pin", {"context": api.chat, "role": "co"})["ok"] is False
    assert api.ask("switch", {"on": True}) == {"ok": True, "on": True}
    api.host.say(api.agent, "Fix the third bug in parser.py")
    assert api.agent._org_active_role["role_id"] == "bugfix_specialist"
    assert (api.folder / "active.json").read_bytes() == before
    assert sorted(path.name for path in api.folder.glob("active.json*")) == ["active.json"]


def test_on_is_refused_where_nothing_can_be_switched_on(api):
    """It says why, and what to do; the file stays."""
    off = api.folder / "active.json.off"
    bundle = next((api.folder / "bundles/active").glob("*.json"))
    assert api.ask("switch", {"on": False})["ok"]
    good = off.read_bytes()
    for break_it in (
        lambda: bundle.rename(api.folder / "aside.json"),
        lambda: off.write_text("{", encoding="utf-8"),
        lambda: off.write_text("[]", encoding="utf-8"),
        lambda: (off.unlink(), os.symlink(api.folder / "software_dev.json", off)),
        off.unlink,
    ):
        break_it()
        answer = api.ask("switch", {"on": True})
        assert answer["ok"] is False
        assert "`orgkernel host activate`" in answer["error"]
        assert not (api.folder / "active.json").exists()
        shown = api.ask("status", {})
        assert (shown["on"], shown["can_switch_on"]) == (False, False)
    (api.folder / "aside.json").rename(bundle)
    off.write_bytes(good)
    assert api.ask("switch", {"on": True}) == {"ok": True, "on": True}


def test_what_was_switched_off_before_is_never_lost(api):
    """Another organization was put there by hand meanwhile, and is switched off too."""
    active, off = api.folder / "active.json", api.folder / "active.json.off"
    first = json.loads(active.read_bytes())
    assert api.ask("switch", {"on": False})["ok"]
    for number in (2, 3):
        active.write_text(json.dumps(first | {"org_name": f"Number {number}"}), encoding="utf-8")
        assert api.ask("switch", {"on": False})["ok"]
    names = [
        json.loads(path.read_bytes())["org_name"]
        for path in (off.with_name(f"{off.name}2"), off.with_name(f"{off.name}3"), off)
    ]
    assert names == [first["org_name"], "Number 2", "Number 3"]


def test_the_command_line_knows_what_was_switched_off(api):
    """The status says where it is; deactivating removes it, and activating anew replaces it."""
    off = api.folder / "active.json.off"
    assert api.ask("switch", {"on": False})["ok"]
    status = read_status(str(api.root))
    assert not status.on
    activate(api.root)
    assert not off.exists()
    assert api.ask("switch", {"on": False})["ok"]
    assert "usr/organizations/active.json.off" in deactivate(str(api.root)).removed
    assert not list(api.folder.glob("active.json*"))
    off.write_text('{"org_id": "mine"}', encoding="utf-8")
    deactivate(str(api.root))
    assert off.exists()
