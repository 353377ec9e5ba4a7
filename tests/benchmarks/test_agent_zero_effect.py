"""The measured effect of a role in the doubles of Agent-Zero. `test_real_prompts.py` measures real hosts."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from benchmarks.agent_zero import Effect, effects, first_call, host_overhead, load


@pytest.fixture(scope="module")
def found() -> list[Effect]:
    """Of every role in every generation."""
    return effects()


@pytest.mark.parametrize(
    ("version", "least", "middle"), [("0.9.7", 0.6, 0.7), ("0.9.8.2", 0.6, 0.7), ("1.7", 0.4, 0.45)]
)
def test_specialists_are_spared_most_of_the_tool_prompt(found, version, least, middle):
    """At least 60 % on 0.9.x. On 1.x it is less than in real hosts, because the files of the doubles have one example each."""
    spared = [each.saved for each in found if each.role.role_type == "specialist" and each.version == version]
    assert min(spared) >= least
    assert median(spared) >= middle


def test_every_role_is_refused_something_and_keeps_something(found):
    """A role that is refused nothing would have no effect."""
    for each in found:
        assert 0 < each.refused < each.tools
        assert each.tools_after < each.tools_before
        assert each.after < each.before
        assert each.brief <= 120


def test_time_is_taken_in_a_running_host():
    """A figure for each model call; how large it is depends on the machine. How often it looks at the disk does not."""
    measured = host_overhead(Path(), calls=12)
    assert 0 < measured["median"] <= measured["p99"]
    # `active.json` twice, the bundle and each role file once.
    assert measured["files"] <= 5 + len(load("software_dev")[1].roles)


def test_a_report_in_each_call_costs_no_look_at_the_disk():
    """A thread writes it, and what reads the disk at the end of the turn is not a model call."""
    assert host_overhead(Path(), calls=12, reports=True)["by_call"].get("fsync", 0) == 0


def test_the_first_message_of_a_process_does_not_wait_for_the_modules():
    """They and the organization are loaded when the chat begins."""
    measured = first_call(Path(), processes=1)
    assert measured["call"] < measured["chat"]
