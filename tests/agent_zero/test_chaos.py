"""Every function of ours is made to raise in turn, and the host's turn is as it is without us."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import pytest

from tests.agent_zero.double import running
from tests.agent_zero.double_loop import Response
from tests.agent_zero.installing import activate
from tests.agent_zero.neighbors import add_neighbors
from tests.agent_zero.saying import answer, call, shell

PACKAGE = "usr.organizations.lib.orgkernel_agent_zero"
BOUNDARY = ("hooks", "calls", "guarding", "saying", "memory")
WAY_TO_A_ROLE = ("choosing", "activation", "gate", "reading", "prompting", "bundle", "text_index")
TURNS = [shell("cat", 1), shell("cat", 2), shell("cat", 3), shell("ls", 4), answer("fixed")]


def explode(*_args, **_kwargs):
    raise RuntimeError("chaos")


def reached_by(work: Callable[[], object]) -> list[FunctionType]:
    """Every function of the adapter and of the runtime in it that some work calls, methods included.

    Without the constructors that dataclasses write, which are closures and no code of ours.
    """
    codes = set()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code) if event == "call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(PACKAGE):
            for holder in [module, *(each for each in vars(module).values() if inspect.isclass(each))]:
                for each in vars(holder).values():
                    function = getattr(each, "fget", getattr(each, "__func__", each))
                    if isinstance(function, FunctionType) and function.__code__ in codes and not function.__code__.co_freevars:  # fmt: skip
                        found[f"{function.__module__}.{function.__qualname__}"] = function
    return [found[name] for name in sorted(found) if found[name].__module__.startswith(PACKAGE)]


@contextmanager
def exploding(function: FunctionType) -> Iterator[None]:
    """Every caller gets an exception, for every method name."""
    code = function.__code__
    function.__code__ = explode.__code__
    try:
        yield
    finally:
        function.__code__ = code


def one_turn(host) -> tuple:
    """What the host does and says in one turn."""
    host.seen, host.ran = [], []
    results = iter([Response("cat: x: No such file or directory")] * 3 + [Response("lines")] * 3)
    host.tools["code_execution_tool"] = lambda **_: next(results)
    agent = host.open_chat()
    said = host.say(agent, "Fix the bug in parser.py", TURNS)
    return said, host.ran, [each.text for each in host.seen], agent


@pytest.mark.parametrize("enforcement", ["observe", "enforce"])
def test_whatever_of_ours_raises_the_turn_is_as_without_us(root, generation, enforcement):
    """The same answer and the same calls; under `observe` the same prompts to the letter; told at most once a cause."""
    add_neighbors(root, generation)
    with running(root, generation, fresh=True) as host:
        without = one_turn(host)
    activate(root, enforcement=enforcement)
    told_of = 0
    with running(root, generation, fresh=True) as host:
        functions = reached_by(lambda: one_turn(host))
        # One source serves all generations; what differs between them is how they call the first functions of ours.
        if generation != "G1":
            functions = [each for each in functions if each.__module__.rpartition(".")[2] in BOUNDARY]
        for function in functions:
            with exploding(function):
                said, ran, prompts, agent = one_turn(host)
            told = [text for _, text in agent.context.log.entries if "chaos" in text]
            told_of += bool(told)
            assert (said, ran) == without[:2], function.__qualname__
            assert not [text for kind, text in agent.context.log.entries if kind == "error"], (
                function.__qualname__
            )
            assert len(told) == len(set(told)) <= 9, function.__qualname__
            if enforcement == "observe":
                assert prompts == without[2], function.__qualname__
        said, ran, _, agent = one_turn(host)
    assert (said, ran) == without[:2]
    assert not [text for _, text in agent.context.log.entries if "chaos" in text]
    assert told_of > (60 if generation == "G1" else 3)


def test_with_on_error_refuse_what_is_essential_to_the_role_still_runs(root, generation):
    """What is never refused is not refused then either, and every refusal is in the log."""
    activate(root, on_error="refuse")
    with running(root, generation, fresh=True) as host:
        from usr.organizations.lib.orgkernel_agent_zero import doctrine

        agent = host.open_chat()
        with exploding(doctrine.report):
            turns = [call("input", keyboard="y"), call("memory_load", query="x"), answer("fixed")]
            assert host.say(agent, "Fix the bug in parser.py", turns) == "fixed"
        assert [tool for _, tool in host.ran] == ["input", "response"]
        entries = [text for _, text in agent.context.log.entries]
        refused = "[ORG] Refused `memory_load`: the organization cannot be read; "
        assert [text for text in entries if text.startswith(refused)]


def test_with_on_error_refuse_no_call_runs_that_was_not_asked_for(root, generation):
    """An error on the way to a role refuses what is not essential, and `response` always ends the turn."""
    activate(root, on_error="refuse")
    refused = 0
    turns = [call("browser_agent", query="x"), answer("fixed")]
    with running(root, generation, fresh=True) as host:

        def ask() -> Any:
            host.seen, host.ran = [], []
            agent = host.open_chat()
            assert host.say(agent, "Fix the bug in parser.py", turns) == "fixed"
            return agent

        for function in reached_by(ask):
            if function.__module__.rpartition(".")[2] in WAY_TO_A_ROLE:
                with exploding(function):
                    agent = ask()
                assert [tool for _, tool in host.ran] == ["response"], function.__qualname__
                refused += any("chaos" in text for _, text in agent.context.log.entries)
    assert refused > 10
