"""Style guide, section 6, as tests: how messages, helps and related texts of every diagnostic are written."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from orgkernel.diagnostics.catalog import ROWS
from orgkernel.rules.catalog import list_rules
from orgkernel.runtime.trigger_parser import parse_trigger
from tests.support.spelling import find_british
from tests.support.trees import REPOSITORY
from tests.support.yaml_text import read_yaml_file

LONGEST = 120
"""Characters of a message outside of quoted user text."""
QUESTION = "did you mean `"
IMPERATIVES = {
    "add", "allow", "assign", "break", "change", "choose", "compare", "correct", "create", "declare", "delete",
    "describe", "equip", "give", "hand", "indent", "join", "keep", "leave", "list", "make", "move",
    "name", "put", "raise", "remove", "replace", "require", "revoke", "save", "set", "split", "take", "unpin",
    "upgrade", "use", "verify", "write",
}  # fmt: skip
_QUOTED = re.compile(r"`[^`]*`")
_PYTHON = re.compile(r"\b(?:str|int|float|bool|dict|tuple|None|NoneType|True|False)\b|\blist\[|<class")
_UNQUOTED = re.compile(r"\b\w+_\w+\b|\b[\w/-]+\.(?:ya?ml|json|toml)\b|(?<!\w)['\"]\w")
BAD_TRIGGERS = (
    "", "context_fill", "context_fill > 85%", "context_fill => 1", "Context_Fill > 1", "(max > 1", "max > 1)", "max >",
    "max > 1 max > 2", "or max > 1", "1 < max < 3", "unrecoverable_error == true", "unrecoverable_error > 1",
    "max > 1.2.3", "zzz > 1", "contxt_fill > 1", "(max > 1) + 1 > 2", "max > 1" + "0" * 20, "max > 1 \u00a7", "(" * 99,
    "max " * 999,
)  # fmt: skip


def faults_of_text(text: str) -> Iterator[str]:
    """What is wrong with any sentence that a diagnostic shows."""
    bare = _QUOTED.sub("", text)
    if len(text.splitlines()) != 1 or text != text.strip():
        yield "is not one line"
    if text.endswith((".", "!", ";", ",")):
        yield "ends with a stop"
    if len(bare) > LONGEST:
        yield "is too long"
    if "`" in bare:
        yield "has an open quotation"
    if _PYTHON.search(bare):
        yield "has a Python type name"
    if _UNQUOTED.search(bare):
        yield "has user text outside of backticks"
    if find_british(bare):
        yield "has a British spelling"


def faults_of_message(text: str) -> Iterator[str]:
    """What is wrong with a message or a related text: it says what is, in lower case."""
    yield from faults_of_text(text)
    if not re.match(r"[a-z`]", text):
        yield "does not begin in lower case"


def faults_of_help(text: str) -> Iterator[str]:
    """What is wrong with a help: it says what to do, or asks what was meant."""
    yield from faults_of_text(text)
    asks = text.startswith(QUESTION) and text.endswith("?")
    if not asks and re.split(r"\W", text, maxsplit=1)[0] not in IMPERATIVES:
        yield "is neither an imperative nor a question"


def expectations() -> dict[str, list[dict[str, Any]]]:
    """Every diagnostic that a case file of rules, reading or shape expects, by code."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((REPOSITORY / "tests").glob("*/cases/*.yaml")):
        file = read_yaml_file(path)
        for case in file["cases"].values():
            for each in case["expect"]:
                found.setdefault(each.get("code") or file["rule"], []).append(each)
    return found


EXPECTED = expectations()


@pytest.mark.parametrize("code", sorted(EXPECTED))
def test_what_a_diagnostic_says_follows_the_style_guide(code: str) -> None:
    """Messages and related texts say what is, helps say what to do; each is one short line in plain American English."""
    wrong = []
    for each in EXPECTED[code]:
        related = [text.partition(" ")[2] for text in each.get("related", ())]
        for text in (each["message"], *related):
            wrong += [(text, fault) for fault in faults_of_message(text)]
        if "help" in each:
            wrong += [(each["help"], fault) for fault in faults_of_help(each["help"])]
    assert wrong == []


def test_every_code_is_among_them() -> None:
    """No rule and no reading or shape error is left out."""
    assert set(EXPECTED) == {*ROWS, *(rule.code for rule in list_rules())}


@pytest.mark.parametrize("text", BAD_TRIGGERS, ids=range(len(BAD_TRIGGERS)))
def test_what_is_said_of_a_trigger_follows_the_style_guide(text: str) -> None:
    """A problem is the end of a message about the trigger, so its text obeys the same rules."""
    problems = parse_trigger(text).problems
    assert problems
    for problem in problems:
        assert [*faults_of_message(problem.message)] == []
        assert problem.help is None or [*faults_of_help(problem.help)] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Role `a` has no profile", "does not begin in lower case"),
        ("role `a` has no profile.", "ends with a stop"),
        ("role `a` has\nno profile", "is not one line"),
        ("role `a` has no profile ", "is not one line"),
        ("", "is not one line"),
        ("role `a` " + "is not declared " * 8 + "here", "is too long"),
        ("role `a has no profile", "has an open quotation"),
        ("`role_id` is a str but must be a string", "has a Python type name"),
        ("`role_id` is None", "has a Python type name"),
        ("role codegen_specialist has no profile", "has user text outside of backticks"),
        ("role 'codegen' has no profile", "has user text outside of backticks"),
        ("role `a` is declared in roles/a.yaml", "has user text outside of backticks"),
        ("organisation `a` has no roles", "has a British spelling"),
        ("the catalogue `a` is not labelled", "has a British spelling"),
    ],
)
def test_a_bad_message_is_noticed(text: str, fault: str) -> None:
    """Each rule for messages fails by itself."""
    assert fault in [*faults_of_message(text)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("the first one counts; remove this one", "is neither an imperative nor a question"),
        ("Remove this one", "is neither an imperative nor a question"),
        ("did you mean `codegen`", "is neither an imperative nor a question"),
        ("was `codegen` meant?", "is neither an imperative nor a question"),
        ("remove this one.", "ends with a stop"),
        ("remove bst_domains", "has user text outside of backticks"),
    ],
)
def test_a_bad_help_is_noticed(text: str, fault: str) -> None:
    """Each rule for helps fails by itself."""
    assert fault in [*faults_of_help(text)]


def test_good_sentences_have_no_faults() -> None:
    """What the style guide shows, and user text that would be wrong outside of backticks."""
    shown = "role `codegen_specialist` reports to `enginering_xo`, which is not declared"
    assert [*faults_of_message(shown), *faults_of_help("did you mean `engineering_xo`?")] == []
    assert [
        *faults_of_message("`x` is the string `None.behaviour " + "a" * 200 + "` but must be a list")
    ] == []


# Words that belong to somebody else, by file: the name of a host's tool and of its prompt, a word that people who
# ask for work may write, words of French examples, and a field of a result and a reason code as their source spells them.
FOREIGN = (
    "behaviour_adjustment",
    "artefacts",
    "Artefacts",
    "DESTRUCTIVE_NOT_AUTHORISED",
    "destructive-not-authorised",
)
FOREIGN_IN = {
    "extension/host/tool_texts.py": ('"behaviour"',),
    "tests/agent_zero/double_prompts.py": ('"behaviour"',),
    "ontology/domains.yaml": ("- analyse\n",),
    "extension/organizations/bundles/sigint_alpha.json": ('"analyse"', "rogramme", "utilisable"),
    "extension/organizations/bundles/software_dev.json": ('"analyse"', "rogramme", "organise", "Analyse les"),
    "templates/sigint_alpha/roles/codegen_specialist.yaml": ("rogramme", "utilisable"),
    "templates/software_dev/roles/analysis_specialist.yaml": ("Analyse les",),
    "templates/software_dev/roles/bugfix_specialist.yaml": ("programme",),
    "templates/software_dev/roles/codegen_specialist.yaml": ("Programme", "organise"),
}
# The spellings themselves, a text by others, what people write and may write, and what tools lock.
NOT_READ = {
    "LICENSE",
    "benchmarks/data/routing/messages.yaml",
    "benchmarks/data/routing/others.yaml",
    "orgkernel/runtime/follow_up_words.json",
    "orgkernel/runtime/request_words.py",
    "orgkernel/runtime/word_forms.py",
    "tests/support/spelling.py",
    "tests/meta/test_messages.py",
}


def british_in(name: str, text: str) -> list[str]:
    """The British spellings in a file that are the project's own."""
    for word in (*FOREIGN, *FOREIGN_IN.get(name, ())):
        text = text.replace(word, "")
    return find_british(text)


def test_the_project_is_written_in_american_english() -> None:
    """No tracked text file has a British spelling, in names, comments, messages or prose."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    wrong = {}
    for name in filter(None, listed.split("\0")):
        path = REPOSITORY / name
        if name in NOT_READ or name.endswith(".lock") or not path.is_file():
            continue
        body = path.read_bytes()
        if b"\0" not in body and (found := british_in(name, body.decode(errors="replace"))):
            wrong[name] = found
    assert wrong == {}


# Pages that are not in the repository: what is cited must be open to the reader.
_PRIVATE = re.compile(
    r"\bdesign \u00a7|\bfacts?(?: sheets?)? \u00a7|\bfacts/|\bgovernance(?: facts)?,? \u00a7|\bpolicies \u00a7|\bstyle(?: guide)? \u00a7|\bseed 00"
)


def test_nothing_is_cited_that_a_reader_cannot_open() -> None:
    """Sources are public specifications, decision records and pages of the documentation."""
    listed = subprocess.run(["git", "ls-files", "*.py", "*.md", "*.lark", "*.yaml", "*.toml", "*.json"], cwd=REPOSITORY,
                            capture_output=True, text=True, check=True).stdout.splitlines()  # fmt: skip
    wrong = {}
    for name in listed:
        path = REPOSITORY / name
        if name in NOT_READ or not path.is_file():
            continue
        if found := _PRIVATE.findall(path.read_text(encoding="utf-8", errors="replace")):
            wrong[name] = found
    assert wrong == {}
    assert _PRIVATE.search("see design \u00a76 and facts/x")


@pytest.mark.parametrize(
    "text",
    [
        "organisations", "# Behaviour", "my_colour", "the Catalogue", "NEIGHBOURS", "unrecognised", "initialising",
        "analyse", "labelled", "licence", "centre", "fulfil",
    ],
)  # fmt: skip
def test_a_british_spelling_is_noticed(text: str) -> None:
    """In prose and in identifiers, whatever the case."""
    assert len(british_in("docs/index.md", f"before {text} after")) == 1


def test_a_foreign_word_is_excused_only_where_it_belongs() -> None:
    """The name of a host's tool is right everywhere, that of its prompt only where the prompts are."""
    assert british_in("docs/index.md", "the tool `behaviour_adjustment`") == []
    assert british_in("extension/host/tool_texts.py", '"behaviour": 1') == []
    assert british_in("extension/host/tool_texts.py", "# its behaviour") == ["behaviour"]
    assert british_in("docs/index.md", '"behaviour": 1') == ["behaviour"]


@pytest.mark.parametrize(
    "text",
    [
        "otherwise",
        "specialist",
        "emphasis",
        "analysis",
        "exercise",
        "catalog",
        "optimism",
        "color",
        "fulfill",
    ],
)
def test_american_words_are_left_alone(text: str) -> None:
    """Words that only look like British ones."""
    assert find_british(text) == []
