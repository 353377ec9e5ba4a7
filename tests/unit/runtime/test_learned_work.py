"""Learned kinds of work only help roles with shared domains."""

from __future__ import annotations

from zlib import compress

import pytest

from orgkernel.runtime import learned_work, text_index
from orgkernel.runtime.learned_work import (
    COMMAND,
    LEAD,
    NO_WORK,
    find_rows,
    guess_work,
    is_learned,
    read_table,
)
from orgkernel.runtime.text_index import RoleTexts, build_index, encode_index, rank_roles, read_index
from tools.learn_work import Message, is_current, known_domains, learn, read_messages, render


def role(role_id: str, about: str, *domains: str, leads: tuple[str, ...] = ()) -> RoleTexts:
    name = role_id.replace("_", " ").title()
    return RoleTexts(
        role_id, (name, role_id), (("name", name), ("description", about)), domains=domains, leads=leads
    )


CREW = [
    role("chief", "Divides the work.", leads=("coder", "mender", "keeper")),
    role("coder", "Writes programs.", "codegen", "refactor"),
    role("mender", "Mends what is broken.", "bugfix"),
    role("keeper", "Looks after servers.", "docker_ops", "git_ops"),
]
BAKERY = [
    role("baker", "Bakes bread, cakes and rolls by recipes."),
    role("seller", "Sells cakes and takes orders of customers."),
    role("coder", "Writes programs.", "codegen"),
]


def taker(roles: list[RoleTexts], text: str) -> str | None:
    index = build_index(roles)
    found = rank_roles(index, text)
    return index.roles[found.ranked[0].role] if found.outcome == "role" else None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("the checkout hangs as soon as someone pays by card", "bugfix"),
        ("whip up a tiny tool that renames my scans", "codegen"),
        ("put my commits on a branch of their own", "git_ops"),
        ("cut the project into tasks and give everyone one", LEAD),
        ("you're in charge of everything from now on, all departments", COMMAND),
    ],
)
def test_a_message_is_about_the_kind_of_work_that_it_resembles(text: str, kind: str) -> None:
    """Together the kinds are certain."""
    found = guess_work(text)
    assert max(found, key=found.__getitem__) == kind
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "text", ["good morning to you", "a limerick about kubernetes, please", "how do I bake a carrot cake?"]
)
def test_small_talk_and_private_matters_are_no_work(text: str) -> None:
    """Whatever they mention."""
    found = guess_work(text)
    assert sum(found[label] for label in NO_WORK) > 0.8
    assert taker(CREW, text) is None


def test_a_role_takes_work_of_its_shared_domain_in_words_that_it_does_not_use() -> None:
    """The description says nothing of checkouts and cards, and the candidate says what spoke for it."""
    text = "the checkout hangs as soon as someone pays by card"
    found = rank_roles(build_index(CREW), text)
    assert (found.outcome, taker(CREW, text)) == ("role", "mender")
    assert found.ranked[0].evidence[-1].kind == "learned"
    assert found.ranked[0].evidence[-1].stem == "bugfix"
    assert "is about `bugfix`" in text_index.say_why(found.ranked[0])
    assert (
        text_index.find_nearest_domain(found.ranked[0].evidence, [("log_analysis", ()), ("bugfix", ())])
        == "bugfix"
    )


def test_orders_to_divide_work_go_to_who_leads() -> None:
    """Not to a specialist who is named in them."""
    text = "Distribute the open tickets among your people"
    assert taker(CREW, text) == "chief"
    assert "leading others" in text_index.say_why(rank_roles(build_index(CREW), text).ranked[0])


def test_what_is_forbidden_is_not_learned_from() -> None:
    """Only the rest of the sentence is guessed."""
    assert taker(CREW, "Do not write any code, only restart the containers") == "keeper"


def test_roles_with_domains_of_their_own_have_their_words_alone() -> None:
    """A recipe is no work for a crew of programmers, and work for a baker."""
    text = "Bake twelve rolls and a cake by the recipe of my aunt"
    assert taker(BAKERY, text) == "baker"
    words = build_index([each._replace(domains=()) for each in BAKERY])
    before = {each.role: each.score for each in rank_roles(words, text).ranked}
    after = {each.role: each.score for each in rank_roles(build_index(BAKERY), text).ranked}
    assert (before[0], before.get(1)) == (after[0], after.get(1))


def test_without_shared_domains_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is it in another language than English, which the messages are in."""
    asked: list[str] = []
    monkeypatch.setattr(text_index, "guess_work", lambda text: asked.append(text) or {})
    rank_roles(build_index([each._replace(domains=()) for each in CREW]), "restart the container")
    rank_roles(build_index(CREW), "Bitte starte den Container mit der Datenbank neu")
    assert not asked


def test_a_role_that_refuses_a_message_by_example_does_not_get_it_by_what_was_learned() -> None:
    """Nor does one that lacks a needed tool."""
    text = "the checkout hangs as soon as someone pays by card"
    refusing = [CREW[0], CREW[1], CREW[2]._replace(not_examples=(text,)), CREW[3]]
    assert all(each.role != 2 for each in rank_roles(build_index(refusing), text).ranked)
    assert all(each.role != 2 for each in rank_roles(build_index(CREW), text, without=frozenset({2})).ranked)


def test_the_index_keeps_the_domains_in_json() -> None:
    """A host ranks as the kernel does."""
    index = build_index(CREW)
    again = read_index(encode_index(index))
    assert again == index
    text = "the checkout hangs as soon as someone pays by card"
    assert rank_roles(again, text) == rank_roles(index, text)


def test_other_triggers_are_another_domain() -> None:
    """An organization that means something else by `bugfix` is not told what the shared one is about."""
    assert not is_learned("bugfix", ("termites",))
    assert not is_learned("no_such_domain", ())
    assert set(known_domains(read_table().labels)) == set(read_table().domains)


def test_a_table_that_is_missing_or_cut_leaves_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host goes on."""
    whole = learned_work.pkgutil.get_data("orgkernel.runtime", learned_work.TABLE)
    assert whole is not None

    def missing(*_: str) -> bytes:
        raise FileNotFoundError

    for read in (
        missing,
        lambda *_: None,
        lambda *_: b"no zlib",
        lambda *_: compress(b"no json"),
        lambda *_: whole[:-1],
    ):
        monkeypatch.setattr(learned_work.pkgutil, "get_data", read)
        read_table.cache_clear()
        assert guess_work("fix the bug") == {}
        assert taker(CREW, "Ask the keeper to restart the servers") == "keeper"
    monkeypatch.undo()
    read_table.cache_clear()
    assert guess_work("fix the bug")


def test_the_table_is_of_the_messages_and_domains_as_they_are() -> None:
    """Otherwise learn again: `python -m tools.learn_work`."""
    assert is_current()


def test_learning_gives_the_same_table_each_time() -> None:
    """On a few messages, for time."""
    few = [
        Message("a", "git_ops", "push my branch"),
        Message("a", "git_ops", "merge the pull request"),
        Message("b", "talk", "hello"),
        Message("b", "talk", "thanks a lot"),
    ]
    assert render(learn(few), few) == render(learn(few), few)


def test_labels_are_known_and_messages_said_once_in_a_file() -> None:
    """A typing error in a label would be learned as a kind of work of its own."""
    messages = list(read_messages())
    domains = set(known_domains(sorted({each.label for each in messages})))
    assert {each.label for each in messages} - domains == {LEAD, COMMAND, *NO_WORK}
    assert len(set(messages)) == len(messages) >= 3_500


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "\u200b" * 50, "x" * 100_000, "\ud800 broken", "日本語のメッセージ"]
)
def test_any_text_is_guessed_in_bounded_time(text: str) -> None:
    """Words are cut at thirty letters, messages at fifteen hundred characters."""
    words, parts = find_rows(text)
    assert len(words) + len(parts) < 5_000
    assert sum(guess_work(text).values()) == pytest.approx(1)
