"""Messages of each kind that people write to a crew that builds software find the right role, or none."""

from __future__ import annotations

import pytest

from orgkernel.runtime.request_acts import COMMAND, FAULT, LEAD, LOG, MAKE, VISIT
from orgkernel.runtime.request_text import read_request
from orgkernel.runtime.spelling import correct_words
from orgkernel.runtime.text_index import RoleTexts, build_index, rank_roles
from orgkernel.runtime.word_forms import find_tokens


def role(role_id: str, name: str, about: str, *examples: str, leads: tuple[str, ...] = ()) -> RoleTexts:
    fields = (("name", name), ("description", about), *(("example", each) for each in examples))
    return RoleTexts(role_id, (name, role_id), fields, 0.8 if leads else 1.0, leads=leads)


INDEX = build_index(
    [
        role(
            "lead",
            "Executive Officer",
            "Breaks objectives into tasks and assigns them.",
            leads=("programmer", "debugger", "operator", "analyst", "researcher"),
        ),
        role("programmer", "Programmer", "Writes new code and refactors old code."),
        role("debugger", "Debugger", "Finds the cause of faults and fixes bugs.", "Das Programm stürzt ab"),
        role("operator", "DevOps Engineer", "Runs containers, branches and packages."),
        role("analyst", "Analyst", "Explains, compares and judges code and data."),
        role("researcher", "Researcher", "Collects information from open sources on the web."),
    ]
)


def taker(text: str) -> str | None:
    found = rank_roles(INDEX, text)
    return INDEX.roles[found.ranked[0].role] if found.outcome == "role" else None


@pytest.mark.parametrize(
    ("text", "role_id"),
    [
        # What is made decides, not what it is for.
        ("Write a small tool that deploys our containers", "programmer"),
        ("Can you build me a parser for the log files?", "programmer"),
        ("How about adding a flag --dry-run to sync.py?", "programmer"),
        # What is done decides, not what it is done to.
        ("Explain the deployment script line by line", "analyst"),
        ("Search the web for articles about container deployments", "researcher"),
        # Faults, as people tell them.
        ("When I press save nothing happens", "debugger"),
        ("The total is off by one cent", "debugger"),
        ("Safari shows the menu twice", "debugger"),
        ('Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: 4', "debugger"),
        # A story first, the request last.
        (
            "Last week we talked about the release and the containers, and the whole team was tired. Then we had lunch. "
            "Could you compare these two drafts and explain how they differ?",
            "analyst",
        ),
        # Forbidden, and what is wanted instead.
        ("I'm not asking you to change the code, only tell me how it works, explain it", "analyst"),
        ("No coding needed: compare the two drafts", "analyst"),
        # Short orders, misspelled ones, polite ones.
        ("restart the container", "operator"),
        ("resatrt teh docekr contianer", "operator"),
        ("Would you be so kind as to restart the container? Thank you so much!", "operator"),
        # Work that is to be divided goes to who leads.
        ("Break the new shop into work packages and assign them to your developers", "lead"),
        ("Plan the next sprint: who does what, in which order?", "lead"),
        # Another language, by an example.
        ("Warum stürzt das Programm ab?", "debugger"),
    ],
)
def test_requests_find_their_role(text: str, role_id: str) -> None:
    """One case for each class of message."""
    assert taker(text) == role_id


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday I read a book about containers",
        "My cat walked over the keyboard and committed something",
        "I used to be a Java developer",
        "A song about broken code, please",
        "Please leave the containers alone",
        "I figured it out myself",
        "sorry, wrong window",
        "How was the release party?",
        "Fix my bike",
        "Write a poem about bugs and branches",
        # A fragment with a single word that is only related to somebody's work.
        "Branches, fair enough",
        # What is to be translated can be about anything.
        "Translate this to German: the container crashed and the tests fail",
    ],
)
def test_mentions_and_private_matters_get_no_role(text: str) -> None:
    """Words about the work of other people are not a request."""
    assert taker(text) is None


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Write me a small script", MAKE),
        ("Users should be able to upload a picture", MAKE),
        ("The page stays blank", FAULT),
        ("2026-01-02 10:00:00 login failed\nwho was that?", LOG),
        ("Tell both of your branches what to do first", LEAD),
        ("Take charge of the whole project", COMMAND),
        ("go to example.org/acme/tool and count the stars", VISIT),
    ],
)
def test_acts_are_terms_of_a_request(text: str, act: str) -> None:
    """They are looked up like words, and the answer quotes the words that said so."""
    assert act in {term.stem for term in read_request(text, {}).terms}


def test_an_address_says_where_and_not_what() -> None:
    """Words of an address are not read. A mail address is not the address of a page."""
    request = read_request("Clone github.com/acme/docker-tools for ann@bugs.com", {}, {})
    assert [term.word for term in request.terms] == ["clone", "ann", "bugs", "com"]


def test_only_what_is_to_be_reworded_is_not_read() -> None:
    """`resume` is an order about wording in Spanish, and another one in English."""
    words = {
        text: [term.word for term in read_request(text, {}, {}).terms]
        for text in ("resume este texto: el contenedor falla", "resume the rollout: restart the containers")
    }
    assert [("contenedor" in each, "containers" in each) for each in words.values()] == [
        (False, False),
        (False, True),
    ]


def test_a_relative_clause_of_another_language_weighs_half() -> None:
    """`..., das Rechnungen liest` describes the script that is to be written. An indirect question is the request."""
    weights = {
        term.word: term.weight
        for text in ("Schreib ein Skript, das Rechnungen liest", "Finde heraus, wem die Firma gehort")
        for term in read_request(text, {}, {}).terms
    }
    assert weights["rechnungen"] == 0.5 * weights["skript"]
    assert weights["firma"] == weights["skript"]


def test_a_request_to_lead_needs_a_role_that_leads() -> None:
    """Without one, the words decide."""
    alone = build_index(
        [role("programmer", "Programmer", "Writes code."), role("cook", "Cook", "Cooks meals.")]
    )
    found = rank_roles(alone, "Assign the code to your programmers")
    assert [alone.roles[each.role] for each in found.ranked][:1] == ["programmer"]


def test_names_and_long_words_are_not_corrected() -> None:
    """A name is not a misspelled word."""
    text = "ask Conatiner about the contianer " + "x" * 5_000
    words = [each.text for each in correct_words(find_tokens(text), text, ())]
    assert words[:5] == ["ask", "conatiner", "about", "the", "container"]
