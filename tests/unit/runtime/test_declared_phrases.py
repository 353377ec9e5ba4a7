"""What an organization declares decides who takes a sentence: examples, triggers and names."""

from __future__ import annotations

import json

import pytest

from orgkernel.runtime.declared_phrases import DeclaredPhrase
from orgkernel.runtime.text_index import RoleTexts, build_index, encode_index, rank_roles, read_index


def role(role_id: str, name: str, about: str, *examples: str) -> RoleTexts:
    fields = (("name", name), ("description", about), *(("example", each) for each in examples))
    return RoleTexts(role_id, (name, role_id), fields)


INDEX = build_index(
    [
        role("rust-pro", "Rust Pro", "Writes systems code with ownership and lifetimes."),
        role("python-pro", "Python Pro", "Writes scripts with generators and decorators."),
        role("code-reviewer", "Code Reviewer", "Reviews changes for readability.", "Ask rust-pro about lifetimes"),
        role("keeper", "Record Keeper", "Keeps the papers of the house."),
        role("cook", "Cook", "Prepares meals."),
    ],
    [
        DeclaredPhrase("memory leak", ("rust-pro", "python-pro")),
        DeclaredPhrase("does not work", ("python-pro",)),
        DeclaredPhrase("archive", ("keeper",)),
        DeclaredPhrase("what is new in", ("code-reviewer",)),
    ],
    [DeclaredPhrase("Pack the reports of May into one parcel.", ("keeper",))],
)  # fmt: skip


def find_taker(text: str) -> str | None:
    ranking = rank_roles(INDEX, text)
    return INDEX.roles[ranking.ranked[0].role] if ranking.outcome == "role" else None


@pytest.mark.parametrize(
    ("text", "role_id"),
    [
        # Examples of domains, up to inflection and order.
        ("Pack the reports of May into one parcel.", "keeper"),
        ("Into one parcel, please pack May's report", "keeper"),
        # An example of a role decides about a name in it.
        ("Ask rust-pro about lifetimes", "code-reviewer"),
        # Triggers: alone, in other order, with their own negation, made of words without meaning.
        ("We need help with a memory leak", "rust-pro"),
        ("There are leaks of memory in the importer, find them", "rust-pro"),
        ("It does not work", "python-pro"),
        ("Archive", "keeper"),
        ("What is new in the repository?", "code-reviewer"),
        # A word that only one role has in its name, and names in requests.
        ("We want safe Rust here", "rust-pro"),
        ("Use rust-pro for the parser", "rust-pro"),
        ("rust-pro", "rust-pro"),
        ("I need a code reviewer", "code-reviewer"),
    ],
)
def test_declared_words_lead_to_their_role(text: str, role_id: str) -> None:
    """One case for each kind of declared evidence."""
    assert find_taker(text) == role_id


@pytest.mark.parametrize(
    "text",
    [
        "Do not look for a memory leak",
        "Not rust-pro please",
        "The rust-pro told me to ask",
        "No archive today, please",
        "My cousin has an archive, and we had a lovely weekend there",
    ],
)
def test_what_is_forbidden_or_mentioned_leads_to_no_role(text: str) -> None:
    """A trigger or a name in a negation, a report or a story is no evidence."""
    assert find_taker(text) is None


def test_the_next_role_of_a_domain_takes_a_trigger_if_the_first_one_cannot() -> None:
    """The roles of a domain come in the order of dispatch."""
    ranking = rank_roles(INDEX, "We need help with a memory leak", without=frozenset((0,)))
    assert INDEX.roles[ranking.ranked[0].role] == "python-pro"


def test_an_index_that_was_written_as_json_ranks_the_same() -> None:
    """A host reads the phrases from its bundle."""
    again = read_index(json.loads(json.dumps(encode_index(INDEX))))
    for text in ("We need help with a memory leak", "May's reports into a parcel", "Use rust-pro"):
        assert rank_roles(again, text) == rank_roles(INDEX, text)


def test_meaning_sorts_candidates_and_makes_no_role_take_a_sentence() -> None:
    """Similarity brings a role to the top of the shortlist; without a word for it, no role takes the sentence."""
    text = "Please warm the soup"
    alone = rank_roles(INDEX, text)
    similar = rank_roles(INDEX, text, similar={4: 1.0, 3: 0.4})
    assert (alone.outcome, similar.outcome) == ("weak", "weak")
    assert INDEX.roles[similar.ranked[0].role] == "cook"


def test_a_similar_rival_leaves_a_close_sentence_undecided() -> None:
    """The margin is larger with meaning, and a role that is nearer in meaning reduces it."""
    text = "Reviews and meals"
    assert rank_roles(INDEX, text, similar={2: 1.0, 4: 1.0}).outcome == "close"


def test_a_role_leaves_an_excluded_example_of_its_domain_to_the_next_role():
    """In other words too; the other examples of the domain stay with the first role."""
    first = RoleTexts("first", ("First",), (("name", "First"),), 1.0, ("Fold the red napkins",))
    both = ("first", "second")
    domain = [DeclaredPhrase("Fold a red napkin.", both), DeclaredPhrase("Polish the silver spoons", both)]
    index = build_index([first, role("second", "Second", "Helps.")], [], domain)
    takers = [rank_roles(index, each.text).ranked[0].role for each in domain]
    assert [index.roles[each] for each in takers] == ["second", "first"]
