"""Follow-ups: which messages belong to the task before them, on labeled conversations and by each rule."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from orgkernel.runtime import follow_up_words, task_life, task_states
from orgkernel.runtime.bundle import read_bundle
from orgkernel.runtime.text_index import TextIndex, rank_roles

HERE = Path(__file__).parent
BUNDLES = HERE.parents[2] / "extension/organizations/bundles"
NOON = 12 * 3600.0
LABELS = ("keep", "talk", "end", "other")
FUNCTION = "Write a Python function that parses dates"


@pytest.fixture(scope="module")
def indexes() -> dict[str, TextIndex]:
    """The words of the two organizations for Agent-Zero."""
    bundles = [read_bundle(json.loads(path.read_text(encoding="utf-8"))) for path in BUNDLES.glob("*.json")]
    return {bundle.org_id: bundle.text_index for bundle in bundles if bundle.text_index is not None}


def play(conversation, index, counts):
    """Count how each message is judged. The next one is judged after what its label says, so each is judged alone."""
    task, now = None, NOON
    for message in conversation["messages"]:
        ((label, text),) = message.items()
        now += 60
        ranking = rank_roles(index, text)
        verdict = task_life.judge_message(index, text, ranking, task, now) if task is not None else None
        wanted = task.role_id if label in ("keep", "talk") else None if label in LABELS else label
        role_id = verdict.role_id if verdict is not None else index.roles[ranking.ranked[0].role]
        kind = label if label in LABELS else "change" if task is not None else "first"
        outcome = "right" if role_id == wanted else "lost" if role_id is None else "jumped"
        counts[kind, outcome] += 1
        if label not in LABELS:
            task = task_life.begin_task(label, text, now)
        else:
            state = {"keep": "open", "talk": "paused"}.get(label, "ended")
            task = task._replace(texts=(*task.texts, text)[-4:], last=now, state=state)


@pytest.mark.parametrize("name", ["tuned", "held_out", "later", "blind", "fresh", "final", "unseen"])
def test_follow_ups_keep_their_role_and_changes_of_task_are_seen(indexes, name):
    """At least nine of ten follow-ups keep the role, at most three of a hundred jump, nine of ten changes are seen."""
    counts: Counter[tuple[str, str]] = Counter()
    text = (HERE / "conversations" / f"{name}.yaml").read_text(encoding="utf-8")
    for conversation in yaml.safe_load(text):
        play(conversation, indexes[conversation["org"]], counts)
    follow_ups = sum(number for (kind, _), number in counts.items() if kind == "keep")
    assert counts["keep", "right"] >= 0.9 * follow_ups
    assert counts["keep", "jumped"] <= 0.03 * follow_ups
    changes = sum(number for (kind, _), number in counts.items() if kind == "change")
    assert counts["change", "right"] >= 0.9 * changes
    breaks = sum(number for (kind, _), number in counts.items() if kind in ("talk", "end", "other"))
    assert counts["talk", "right"] + counts["end", "right"] + counts["other", "right"] >= 0.9 * breaks


def test_sentences_for_practice_are_judged_no_worse(indexes):
    """Each way to close a task ends it. Of follow-ups full of words of other roles and of terse changes, most are right."""
    counts: Counter[tuple[str, str]] = Counter()
    text = (HERE / "conversations/practice.yaml").read_text(encoding="utf-8")
    for conversation in yaml.safe_load(text):
        play(conversation, indexes[conversation["org"]], counts)
    ends = {outcome for kind, outcome in counts if kind == "end"}
    assert ends == {"right"}
    assert counts["keep", "right"] >= 19
    assert counts["change", "right"] >= 41


CASES = [
    # rule, message, role after it, state of the task after it
    ("ROLE_NAMED", "Ask the DevOps Specialist to have a look", "devops_specialist", "open"),
    ("SMALL_TALK", "How are you today?", "codegen_specialist", "paused"),
    ("SMALL_TALK", "What is the capital of France?", "codegen_specialist", "paused"),
    ("TASK_CLOSED", "Great, thanks, that is all", None, "ended"),
    ("TASK_STOPPED", "Never mind, forget it", None, "ended"),
    (
        "SUBJECT_CHANGED",
        "New topic: which companies sell e-bikes? Search the web",
        "osint_specialist",
        "open",
    ),
    ("NEXT_TASK", "Write a bash tool that renames photos by camera model", "codegen_specialist", "open"),
    ("SAME_ROLE", "Write a test for leap years", "codegen_specialist", "open"),
    ("HANDED_ON", "Now commit it and push the branch", "devops_specialist", "open"),
    ("OTHER_WORK", "Search the web for prices of vector databases", "osint_specialist", "open"),
    ("OTHER_MATTER", "Order a birthday cake for my daughter for Saturday", None, "ended"),
    ("ABOUT_THE_WORK", "Explain what you changed", "codegen_specialist", "open"),
    ("ABOUT_THE_WORK", "und die Tests?", "codegen_specialist", "open"),
    ("NOTHING_NEW", "Prefer snake case", "codegen_specialist", "open"),
]


@pytest.mark.parametrize(("rule", "message", "role_id", "state"), CASES)
def test_each_rule_decides_its_message(indexes, rule, message, role_id, state):
    """After a task of another role, or of the same one."""
    verdict = judge(indexes, message)
    assert (verdict.rule, verdict.role_id, verdict.task.state) == (rule, role_id, state)


def test_every_rule_has_a_case():
    """The rules without a case above have a test of their own."""
    own_tests = {"TASK_OVER", "TASK_RESUMED", "TRACKER_BELIEVES"}
    assert {rule.code for rule in task_life.RULES} == {case[0] for case in CASES} | own_tests


def judge(indexes, message, *, after=60.0, state="open", **more):
    index = indexes["software_dev"]
    task = task_life.begin_task("codegen_specialist", FUNCTION, NOON)._replace(state=state)
    return task_life.judge_message(index, message, rank_roles(index, message), task, NOON + after, **more)


def test_the_reason_names_the_task_by_its_time(indexes):
    """And what shows that the message belongs to it."""
    assert (
        judge(indexes, "show me the diff").reason
        == "this is still the task of 12:00 UTC, because `diff` refers to it"
    )


@pytest.mark.parametrize(("after", "state"), [(task_life.SILENCE + 1, "open"), (60.0, "ended")])
def test_a_task_that_is_over_is_resumed_only_by_a_message_that_refers_to_it(indexes, after, state):
    """After a working day without a message, and after the user's thanks."""
    resumed = judge(indexes, "also make it faster", after=after, state=state)
    assert (resumed.rule, resumed.role_id, resumed.task.state) == (
        "TASK_RESUMED",
        "codegen_specialist",
        "open",
    )
    left = judge(indexes, "Prefer snake case", after=after, state=state)
    assert (left.rule, left.effect, left.role_id) == ("TASK_OVER", "leave", None)
    begun = judge(indexes, "Restart the docker container", after=after, state=state)
    assert (begun.effect, begun.role_id) == ("begin", "devops_specialist")


def test_a_task_moves_only_if_the_commander_may_hand_it_on(indexes):
    """Otherwise it stays, and the reason says who may not."""
    refused = judge(
        indexes,
        "Now commit it and push the branch",
        find_refusal=lambda old, new: f"the XO may not give {new} work of {old}",
    )
    assert (refused.rule, refused.role_id) == ("MOVE_REFUSED", "codegen_specialist")
    assert "the XO may not give devops_specialist work of codegen_specialist" in refused.reason


def test_a_tracker_begins_another_task_only_where_nothing_refers_to_this_one(indexes):
    """Trackers take every message by itself."""
    message = "Umsatzsteuer für Kleinunternehmer in Portugal"
    assert judge(indexes, message, believed="osint_specialist").rule == "TRACKER_BELIEVES"
    assert judge(indexes, "use it there too", believed="osint_specialist").role_id == "codegen_specialist"
    assert judge(indexes, message).rule == "NOTHING_NEW"


def test_a_task_remembers_its_first_and_its_latest_messages(indexes):
    """A bounded number of bounded texts."""
    index = indexes["software_dev"]
    task = task_life.begin_task("codegen_specialist", FUNCTION, NOON)
    for number in range(20):
        message = f"use {number} of them " + "x" * 1_000
        task = task_life.judge_message(index, message, rank_roles(index, message), task, NOON).task
    assert len(task.texts) == task_states.MAX_TEXTS
    assert task.texts[0] == FUNCTION
    assert task.texts[-1].startswith("use 19 of them")
    assert max(map(len, task.texts)) == task_life.MAX_TEXT_LENGTH


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"languages": 3}'])
def test_without_its_words_a_message_still_belongs_to_the_task(indexes, monkeypatch, content):
    """A file that is missing or damaged never raises."""
    monkeypatch.setattr(follow_up_words.pkgutil, "get_data", lambda *_: content)
    follow_up_words._get_vocabulary.cache_clear()
    try:
        assert judge(indexes, "show me the diff").role_id == "codegen_specialist"
    finally:
        follow_up_words._get_vocabulary.cache_clear()
        follow_up_words.extract_objects.cache_clear()


def test_the_words_of_all_languages_have_the_same_kinds():
    """Without accents and in lower case, as messages are compared."""
    languages = follow_up_words._read_words()
    assert {"English", "German", "Spanish", "French"} == set(languages)
    for kinds in languages.values():
        assert set(kinds) - {"relative"} == set(languages["English"])
        assert all(joined == joined.lower() and joined.isascii() for joined in kinds.values())


def test_the_docs_list_the_rules_in_their_order():
    """The table of `docs/dispatch.md` has a row for each rule; two rows about one code that follow each other are one."""
    page = (HERE.parents[2] / "docs/dispatch.md").read_text(encoding="utf-8")
    rows = page.partition("| code | applies if the sentence | effect |\n|---|---|---|\n")[2].partition(
        "\n\n"
    )[0]
    codes = [row.split("`")[1] for row in rows.splitlines()]
    merged = ["SUBJECT_CHANGED", "TASK_OVER"]  # each with a role, and without one
    rules = [rule.code for rule in task_life.RULES if not (rule.code in merged and rule.effect == "leave")]
    assert codes == rules


@pytest.mark.parametrize(
    ("message", "role_id"),
    [
        # What a fault says about the work that was just done, and a question about it.
        ("it doesn't compile", "codegen_specialist"),
        ("no, the key is wrong", "codegen_specialist"),
        ("what happens if the token is expired?", "codegen_specialist"),
        # `cause` and `it` belong to what the message itself tells.
        (
            'the production server throws "connection pool exhausted" since noon, find the cause',
            "bugfix_specialist",
        ),
        (
            "the importer of our Polish customer raises UnicodeDecodeError on the file, fix it",
            "bugfix_specialist",
        ),
    ],
)
def test_a_fault_of_the_work_is_the_task_and_a_story_of_its_own_is_not(indexes, message, role_id):
    """A pronoun or a noun of any task refers to the task, unless the message has told what it means."""
    assert judge(indexes, message).role_id == role_id
