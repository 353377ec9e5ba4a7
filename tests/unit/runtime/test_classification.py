"""Messages are classified by the domains' own words, and what is not clearly work is not taken for work."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.runtime.classification import DomainWords, build_classifier, classify, stems_of
from tests.support.trees import REPOSITORY

CATALOG = yaml.safe_load((REPOSITORY / "ontology/domains.yaml").read_text(encoding="utf-8"))["domains"]
WORDS = {
    name: DomainWords(tuple(each["examples"]), tuple(each["triggers"]), each.get("passthrough", False))
    for name, each in CATALOG.items()
}
CLASSIFIER = build_classifier(WORDS)
EXAMPLES = [(domain, text) for domain, words in WORDS.items() for text in words.examples]


@pytest.mark.parametrize(("domain", "text"), EXAMPLES)
def test_every_example_of_the_catalog_belongs_to_its_domain(domain, text):
    """Word for word it always does."""
    assert classify(CLASSIFIER, text).domains == (domain,)


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Fix the bug in parser.py", "bugfix"),
        ("There is a bug in the parser", "bugfix"),
        ("The app crashes on login", "bugfix"),
        ("thanks, now fix the failing test", "bugfix"),
        ("commit my changes", "git_ops"),
        ("please merge the pull request", "git_ops"),
        ("Write a Python function that sorts a list", "codegen"),
        ("Deploy the container", "docker_ops"),
        ("Investigate the company behind acme.example", "osint"),
        ("Convert this spreadsheet to JSON", "data_transform"),
        ("what time is it", "conversational"),
        ("hello there", "conversational"),
    ],
)
def test_messages_that_say_what_they_are(text, domain):
    """Work is found beside small talk; small talk alone is conversation."""
    assert classify(CLASSIFIER, text).domains == (domain,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I need a vacation",
        "my bank branch closes early",
        "a bug bit me",
        "Tell me a story about a dragon",
        "what is the capital of France?",
        "who won the match yesterday",
        "Write a poem about spring",
        "How do I get to the airport by train?",
        "ночь, улица, фонарь, аптека",
        "🙂",
    ],
)
def test_one_word_that_work_also_uses_is_not_enough(text):
    """No false role: what is not clearly work is no domain at all."""
    assert classify(CLASSIFIER, text).domains == ()


def test_examples_left_out_are_rarely_taken_for_another_domain():
    """Each example is judged by a catalog without it: of ninety, at most one in ten goes wrong, most say nothing."""
    wrong = 0
    for domain, text in EXAMPLES:
        others = {
            name: words._replace(examples=tuple(each for each in words.examples if each != text))
            for name, words in WORDS.items()
        }
        found = classify(build_classifier(others), text).domains
        wrong += bool(found) and domain not in found
    assert wrong <= len(EXAMPLES) / 10


def test_evidence_is_said_in_the_words_of_the_message():
    """Whoever reads the log finds them there; stems such as `deplo` are nobody's words."""
    message = "Deploy the container with docker compose"
    found = classify(CLASSIFIER, message)
    assert found.evidence
    assert all(words in message.lower() for words in found.evidence), found.evidence


def test_equal_evidence_is_said_to_be_equal():
    """Whoever asks may settle it, if one role takes them all."""
    classifier = build_classifier(
        {"a": DomainWords(triggers=("alpha beta",)), "b": DomainWords(triggers=("gamma delta",))}
    )
    assert classify(classifier, "alpha beta, gamma delta").domains == ("a", "b")


def test_what_is_asked_counts_more_than_what_is_pasted():
    """A log full of errors below a question about a spreadsheet is data."""
    pasted = "\n".join(["ERROR exception in worker, stack trace follows"] * 20)
    text = (
        "Convert the csv to json and clean the data please: for every row one object with name and price. "
        * 2
    )
    assert classify(CLASSIFIER, text + pasted).domains == ("data_transform",)


@given(st.text(max_size=300))
def test_no_message_raises_and_the_same_one_is_classified_the_same(text):
    """Deterministic, whatever is typed."""
    assert classify(CLASSIFIER, text) == classify(CLASSIFIER, text)
    assert all(stems_of(text))


@given(st.sampled_from(sorted(WORDS)), st.data())
def test_two_triggers_of_one_domain_are_always_enough(domain, data):
    """Nothing else mentioned: it is that domain."""
    first, second = data.draw(st.permutations(WORDS[domain].triggers))[:2]
    found = classify(CLASSIFIER, f"{first}, {second}")
    assert domain in found.domains
