"""A role is found by its own words; what is forbidden, mentioned or small talk finds none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.runtime.languages import find_language
from orgkernel.runtime.request_text import read_request
from orgkernel.runtime.text_index import RoleTexts, build_index, encode_index, rank_roles, read_index
from orgkernel.runtime.word_forms import find_tokens, stem
from tests.support.patience import within


def role(role_id: str, about: str, *examples: str, not_examples: tuple[str, ...] = ()) -> RoleTexts:
    name = role_id.replace("_", " ").title()
    fields = (("name", name), ("description", about), *(("example", each) for each in examples))
    return RoleTexts(role_id, (name, role_id), fields, 1.0, not_examples)


INDEX = build_index(
    [
        role("bookkeeper", "Books invoices and closes the month.", "Bitte die Rechnung verbuchen"),
        role("devops_engineer", "Deploys containers and watches the servers."),
        role("tester", "Tries every release and reports what does not work."),
        role("code_reviewer", "Comments on changes of the program."),
        role(
            "writer", "Writes articles about our products.", not_examples=("Write me a check over ten euros",)
        ),
        role("database_administrator", "Looks after the database and its backups."),
    ]
)


def taker(text: str) -> str | None:
    found = rank_roles(INDEX, text)
    return INDEX.roles[found.ranked[0].role] if found.outcome == "role" else None


@pytest.mark.parametrize(
    ("text", "role_id"),
    [
        ("Please book the invoice of the baker", "bookkeeper"),
        ("There is an unpaid bill on my desk, enter it in the ledger", "bookkeeper"),
        ("Deploy the container", "devops_engineer"),
        ("DEPLOYING CONTAINERS", "devops_engineer"),
        ("deploy_container()", "devops_engineer"),
        ("Roll out kubernetes", "devops_engineer"),
        ("Deplooy the contaner", "devops_engineer"),
        ("Without touching the database, deploy the container", "devops_engineer"),
        ("Do not deploy anything, just write an article", "writer"),
        ("I don't want an article, restore the backup of the database", "database_administrator"),
        ("Ask the tester to look at it", "tester"),
        ("@tester this one is for you", "tester"),
        ("tester, please have a look at the containers", "tester"),
        ("As the code reviewer told me, deploy the container", "devops_engineer"),
        ("Write an article for the tester", "writer"),
        ("Hello! Deploy the container, thanks", "devops_engineer"),
        ("Bitte die Rechnung verbuchen", "bookkeeper"),
        ("Kannst du die Rechnung bitte verbuchen?", "bookkeeper"),
    ],
)
def test_what_is_asked_finds_its_role(text: str, role_id: str) -> None:
    """By its words, related words, or the role's name."""
    assert taker(text) == role_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?!...",
        "\0\0",
        "hello",
        "Good morning, how are you?",
        "Thanks a lot!",
        "Write a poem about containers",
        "Tell me a joke about a bookkeeper",
        "What is the capital of France?",
        "Who wrote Faust?",
        "Do you like music?",
        "I am tired",
        "Do not deploy the container",
        "I saw it in /srv/container/deploy/x",
        "Peux-tu nous faire la cuisine pour ce soir ?",
        "Write me a check over ten euros",
    ],
)
def test_a_message_without_a_task_gets_no_role(text: str) -> None:
    """No role is better than a wrong one."""
    assert taker(text) is None


def test_two_roles_that_fit_equally_well_are_a_shortlist() -> None:
    """The caller may choose."""
    twins = build_index(
        [role("first", "Paints walls."), role("second", "Paints walls."), role("third", "Sings.")]
    )
    found = rank_roles(twins, "Paint the wall")
    assert (found.outcome, found.margin) == ("close", 0.0)
    assert [twins.roles[each.role] for each in found.ranked] == ["first", "second"]


def test_a_word_that_all_roles_share_says_nothing() -> None:
    """Three roles that all mend things differ in what they mend."""
    roles = build_index([role(each, f"Mends {each}.") for each in ("bicycles", "shoes", "clocks")])
    assert rank_roles(roles, "mend it").ranked == ()


def test_roles_may_be_passed_over_and_meaning_may_count() -> None:
    """Roles without a needed tool are left out; an embedder speaks for roles that no word finds."""
    assert rank_roles(INDEX, "Deploy the container", without=frozenset({1})).outcome != "role"
    found = rank_roles(INDEX, "Polish the periscope", similar={2: 0.9})
    assert INDEX.roles[found.ranked[0].role] == "tester"


def test_the_index_is_the_same_after_a_way_through_json() -> None:
    """A bundle holds it as JSON."""
    again = read_index(json.loads(json.dumps(encode_index(INDEX))))
    for text in (
        "Deploy the container",
        "Ask the tester",
        "Bitte die Rechnung verbuchen",
        "Write me a check over ten euros",
    ):
        assert rank_roles(again, text) == rank_roles(INDEX, text)


@pytest.mark.parametrize(
    "change",
    [
        {"priors": [1.0]},
        {"terms": {"x": [99, 0.5]}},
        {"terms": {"x": [0]}},
        {"terms": {"x": ["0", 0.5]}},
        {"names": [["tester", -1]]},
        {"names": [[0]]},
        {"leads": {"0": [99]}},
        {"examples": {"x": True}},
        {"roles": None},
    ],
)
def test_an_index_that_was_damaged_is_refused(change: dict[str, object]) -> None:
    """Readers rely on the numbers of roles."""
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        read_index(encode_index(INDEX) | change)


@pytest.mark.parametrize(
    "words",
    [
        "deploy deploys deployed deploying deployment",
        "invoice invoices invoicing invoiced",
        "color colors coloring",
        "analyze analysis analyst analytics",
        "organize organizes organizing",
        "library libraries",
        "translate translation translator",
    ],
)
def test_forms_of_a_word_have_one_stem(words: str) -> None:
    """Whatever the ending."""
    assert len({stem(word) for word in words.split()}) == 1


def test_paths_and_identifiers() -> None:
    """A path is its file's name; an identifier is its parts."""
    found = find_tokens("/usr/share/docker/report_builder.py")
    assert [each.stem for each in found] == ["report", "build", "py"]
    assert [each.stem for each in find_tokens("parseInvoiceTotal")] == ["pars", "invoice", "total"]


def test_languages() -> None:
    """By the script, or by function words."""
    assert find_language("Kannst du mir bitte die Tabelle schicken?") == "German"
    assert find_language("\u043d\u043e\u0447\u044c") is not None
    assert find_language("Deploy the container") is None
    assert find_language("Behebe den Fehler in parser.py") == "German"
    assert find_language("create a folder per customer on the server") is None
    assert find_language("c program that prints prime numbers") is None


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "fix " * 25_000,
        "a.b/c_" * 16_000,
        "don't " * 16_000,
        "\u202e" * 100_000,
        '"' * 100_000,
        "how are you " * 8_000,
        "(" * 100_000,
    ],
    ids=range(8),
)
def test_hostile_texts_take_bounded_time(text: str) -> None:
    """Only the beginning is read."""
    with within(1):
        rank_roles(INDEX, text)


@given(st.text(max_size=300))
def test_no_text_raises_and_the_same_text_has_the_same_answer(text: str) -> None:
    """Deterministic, whatever is typed."""
    assert rank_roles(INDEX, text) == rank_roles(INDEX, text)
    assert all(term.weight > 0 for term in read_request(text, INDEX.names).terms)
