"""Every function of ours is made to raise in turn, and the host's turn is as it is without us (design §1, promise 4)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType

import pytest

from tests.agent_zero.double import running
from tests.agent_zero.double_loop import Response
from tests.agent_zero.installing import activate
from tests.agent_zero.neighbours import add_neighbours
from tests.agent_zero.saying import answer, call, shell

PACKAGE = "usr.organizations.lib.orgkernel_agent_zero"
TURNS = [shell("cat", 1), shell("cat", 2), shell("cat", 3), shell("ls", 4), answer("fixed")]


def explode(*_args, **_kwargs):
    raise RuntimeError("chaos")


def our_functions() -> list[FunctionType]:
    """Every function of the adapter and of the runtime in it, methods included, that something can call."""
    import importlib

    importlib.import_module(f"{PACKAGE}.hooks")
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(PACKAGE):
            for holder in [module, *(each for each in vars(module).values() if inspect.isclass(each))]:
                for each in vars(holder).values():
                    each = getattr(each, "fget", getattr(each, "__func__", each))
                    # What dataclasses write has another file name, and no fault of ours in it.
                    if isinstance(each, FunctionType) and each.__code__.co_filename == getattr(sys.modules.get(each.__module__), "__file__", ""):  # fmt: skip
                        found[f"{each.__module__}.{each.__qualname__}"] = each
    return [found[name] for name in sorted(found)]


@contextmanager
def exploding(function: FunctionType) -> Iterator[None]:
    """Whoever calls it, by whatever name, gets an exception."""
    code = function.__code__
    free = len(code.co_freevars)
    if free:
        pytest.fail(f"{function.__qualname__} is a closure")
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
    add_neighbours(root, generation)
    with running(root, generation) as host:
        without = one_turn(host)
    activate(root, enforcement=enforcement)
    reached = 0
    with running(root, generation) as host:
        for function in our_functions():
            globals()["RuntimeError"] = RuntimeError  # `explode` is looked up among the globals it is put into
            with exploding(function):
                said, ran, prompts, agent = one_turn(host)
            told = [text for _, text in agent.context.log.entries if "chaos" in text]
            reached += bool(told)
            assert (said, ran) == without[:2], function.__qualname__
            assert not [text for kind, text in agent.context.log.entries if kind == "error"], function.__qualname__
            assert len(told) == len(set(told)) <= 9, function.__qualname__
            if enforcement == "observe":
                assert prompts == without[2], function.__qualname__
        said, ran, _, agent = one_turn(host)
    assert (said, ran) == without[:2]
    assert not [text for _, text in agent.context.log.entries if "chaos" in text]
    assert reached > 60


def test_with_on_error_refuse_no_call_runs_that_was_not_asked_for(root, generation):
    """An error on the way to a role refuses what is not essential, and `response` always ends the turn."""
    activate(root, on_error="refuse")
    refused = 0
    with running(root, generation) as host:
        for function in our_functions():
            if function.__module__.rpartition(".")[2] not in ("choosing", "activation", "gate", "reading", "prompting", "bundle", "classification"):
                continue
            with exploding(function):
                host.seen, host.ran = [], []
                agent = host.open_chat()
                said = host.say(agent, "Fix the bug in parser.py", [call("browser_agent", query="x"), answer("fixed")])
                told = [text for _, text in agent.context.log.entries if "chaos" in text]
            assert said == "fixed"
            assert ("browser_agent" in [tool for _, tool in host.ran]) is False, function.__qualname__
            refused += bool(told)
    assert refused > 10
