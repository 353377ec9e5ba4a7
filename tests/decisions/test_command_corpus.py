"""Shell commands with labels by meaning: what is found in them, the same through the function, the command line and HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.work.contracts.command_permission import permit_command
from orgkernel.kernel.kernel import Kernel
from orgkernel.runtime.commands import may_begin
from orgkernel.shell.catalog import build_entry, build_tree, find_provider, is_trial
from orgkernel.shell.check import check_command
from orgkernel.shell.ownership import Ground
from orgkernel.shell.verdict import CATALOG
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY, TEMPLATES
from tests.support.yaml_text import read_yaml, read_yaml_file

FOLDER = Path(__file__).parent / "command_corpus"
EXIT_CODES = {"harmless": 0, "destructive": 1, "cannot_tell": 2}


class Labeled(NamedTuple):
    """A command, and the operation of the catalog it does; none for a harmless one."""

    command: str
    operation: str


def read_half(name: str) -> list[Labeled]:
    """The commands of a file."""
    trades = read_yaml((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")).values()
    return [
        *(Labeled(command, "") for trade in trades for command in trade["harmless"]),
        *(
            Labeled(command, operation)
            for trade in trades
            for operation, commands in trade["destructive"].items()
            for command in commands
        ),
    ]


def read_cases() -> Iterator[dict[str, Any]]:
    """Commands with the directory and the globs they are asked with, and complete answers."""
    yield from read_yaml_file(FOLDER / "cases.yaml")


@pytest.mark.parametrize("half", ["tuned", "untouched"])
def test_no_destructive_command_is_called_harmless(half: str) -> None:
    """A destructive command is reported with the id of its operation, or as a command that cannot be read."""
    missed = []
    for command, operation in read_half(half):
        found = check_command(command)
        if operation and (
            found.outcome == "harmless"
            or (found.operations and operation not in {each.id for each in found.operations})
        ):
            missed.append((command, operation, found.outcome))
    assert missed == []


@pytest.mark.parametrize("half", ["tuned", "untouched"])
def test_harmless_commands_rarely_alarm(half: str) -> None:
    """At most 2 % of the harmless commands are called destructive, and at most 5 % cannot be read."""
    outcomes = [check_command(command).outcome for command, operation in read_half(half) if not operation]
    assert len(outcomes) > 120
    assert outcomes.count("destructive") <= 0.02 * len(outcomes)
    assert outcomes.count("cannot_tell") <= 0.05 * len(outcomes)


def test_corpus_has_500_commands_and_every_operation() -> None:
    """No command is there twice, half are harmless, and each operation of the catalog is done by some."""
    both = [*read_half("tuned"), *read_half("untouched")]
    assert len({each.command for each in both}) == len(both) >= 500
    assert 0.45 < sum(not each.operation for each in both) / len(both) < 0.55
    assert {each.operation for each in both} == {"", *CATALOG}


@pytest.mark.parametrize("name", ["disguises", "services"])
def test_disguises_and_everyday_commands(name: str) -> None:
    """What was tried against the recognizer keeps its outcome."""
    wrong = [
        (command, outcome, check_command(command).outcome)
        for some in read_yaml_file(FOLDER / f"{name}.yaml").values()
        for outcome, commands in some.items()
        for command in commands
        if check_command(command).outcome != outcome
    ]
    assert wrong == []


def test_held_out_commands_keep_their_outcomes() -> None:
    """Commands by another author: each keeps its outcome, and no destructive one is called harmless."""
    trades = read_yaml_file(FOLDER / "held_out.yaml")
    labels = {label for trade in trades.values() for label in trade}
    assert not labels & {"destructive_as_harmless", "harmless_as_destructive", "cannot_tell_as_destructive"}
    wrong = [
        (command, outcome, found)
        for trade in trades.values()
        for label, commands in trade.items()
        for command in commands
        if (found := check_command(command).outcome) != (outcome := label.rpartition("_as_")[2] or label)
    ]
    assert wrong == []


def test_second_held_out_commands_keep_their_outcomes() -> None:
    """Of commands that were written before a look at the catalog, none that destroys, opens or costs is called harmless."""
    outcomes: dict[str, list[str]] = {}
    wrong = []
    for name, trade in read_yaml_file(FOLDER / "held_out_2.yaml").items():
        for label, commands in trade.items():
            meaning, _, stated = label.partition("_as_")
            kind = "borderline" if name == "borderline" and meaning == "harmless" else meaning
            for command in commands:
                found = check_command(command).outcome
                outcomes.setdefault(kind, []).append(found)
                if label == "opens_or_costs":
                    wrong += [(command, label, found)] if found == "harmless" else []
                elif found != (stated or meaning):
                    wrong.append((command, label, found))
    assert wrong == []
    assert outcomes["destructive"].count("harmless") == 0
    assert len(outcomes["destructive"]) > 340
    assert set(outcomes["harmless"]) == {"harmless"}
    assert outcomes["borderline"].count("destructive") <= 0.04 * len(outcomes["borderline"])


def test_commands_remove_what_they_made() -> None:
    """A command may remove what it certainly made itself when control comes to the removal, and nothing else."""
    wrong = [
        (command, outcome, found)
        for outcome, commands in read_yaml_file(FOLDER / "own_things.yaml").items()
        for command in commands
        if (found := check_command(command).outcome) != outcome
    ]
    assert wrong == []


def test_everyday_commands_that_may_begin_with_rm() -> None:
    """A rule about `rm` concerns at most 2 % of the everyday commands that do not run it."""
    plain = [
        command
        for file in ("held_out", "held_out_2")
        for name, trade in read_yaml_file(FOLDER / f"{file}.yaml").items()
        if name not in ("own_files", "outside_the_catalog", "borderline")
        for command in trade.get("harmless", ())
    ]
    assert len(plain) > 400
    concerned = [command for command in plain if may_begin(command, "rm")]
    assert concerned == [
        "cat <<'EOF' | python3 -m json.tool\n{\"a\": 1}\nEOF",
        "fd -e py",
        "source .venv/bin/activate",
        'docker run --rm -v "$PWD":/src -w /src node:22 npm test',
        "duckdb -c \"select * from 'data.parquet' limit 5\"",
    ]
    assert len(concerned) <= 0.02 * len(plain)


@pytest.mark.parametrize(
    "command",
    [
        "rg --pre rm x",
        "rg --pr=rm x",
        "rg $options rm",
        'rg "$pattern" rm',
        "rg -n 'a b' && rm x",
        "rg x | xargs rm",
        "awk 'BEGIN{system(\"rm x\")}'",
        "awk '{print | \"rm x\"}'",
        "awk -f rm.awk",
        "awk -W exec rm",
        "awk $options rm",
    ],
)
def test_readers_of_text_that_may_run_another_program(command: str) -> None:
    """`rg` and `awk` take their words for data, except with an option or in a program that runs one."""
    assert may_begin(command, "rm")


@pytest.mark.parametrize("case", [*read_cases()], ids=lambda case: case["name"])
def test_complete_answers(case: dict[str, Any]) -> None:
    """Operations with places, words and what leads to them; what could not be read; directories and owned globs."""
    own = case.get("own")
    found = check_command(case["command"], Ground(case.get("root"), None if own is None else tuple(own)))
    assert shorten(msgspec.to_builtins(found)) == expected(case)


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """The answer of a case with what it leaves out."""
    return {name: case.get(name, []) for name in ("outcome", "operations", "unread")}


def shorten(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as the cases write it: each part as one text."""

    def text(part: dict[str, Any]) -> str:
        at, through = part["at"], "".join(f" < {each}" for each in reversed(part["through"]))
        name = part.get("id", part["message"])
        return f"{at['line']}:{at['column']}-{at['end_line']}:{at['end_column']} {name}{through}"

    return {
        name: value if isinstance(value, str) else [text(part) for part in value]
        for name, value in answer.items()
    }


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A server, which answers about commands whatever organizations it holds."""
    app = create_app(Kernel.open(TEMPLATES / "software_dev"))
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50_000)) as asking:
        yield asking


def test_same_answers_on_all_surfaces(client: TestClient, tmp_path: Path) -> None:
    """The command line and HTTP give the answer of the function; the exit code follows from the outcome."""
    for case in read_cases():
        root, own = case.get("root"), case.get("own")
        answer = json.loads(
            msgspec.json.encode(
                permit_command(case["command"], Ground(root, None if own is None else tuple(own)))
            )
        )
        body = {"command": case["command"], "root": root, "own": own}
        assert client.post("/v1/commands/check", json=body).json() == answer
        given = [
            *(["--root", root] if root else []),
            *(word for glob in own or () for word in ("--own", glob)),
        ]
        if own == []:
            continue
        ran = run_here("command", "check", *given, "--format", "json", "--", case["command"], cwd=tmp_path)
        assert json.loads(ran.stdout) == answer, case["name"]
        assert ran.returncode == EXIT_CODES[answer["outcome"]]
        assert (answer["permission"] == "allow") == (answer["outcome"] == "harmless")


def test_page_lists_the_catalog() -> None:
    """The page names every operation with the sentence of the catalog."""
    page = (REPOSITORY / "docs" / "destructive-commands.md").read_text(encoding="utf-8")
    for name, sentence in CATALOG.items():
        assert f"| `{name}` | {sentence} |" in page


def test_patterns_and_exact_names_of_subcommands_stand_side_by_side() -> None:
    """What follows an exact name counts first, then what follows a pattern; an operand is no subcommand."""
    facts = {
        "subcommands": [
            {"names": ["* list"], "effect": "reads"},
            {"names": ["* delete"], "effect": "deletes"},
            {"names": ["disks purge"], "effect": "deletes"},
            {"names": ["* * list"], "effect": "reads"},
        ]
    }
    root = build_tree("cloud", facts)
    disks = root.find("disks")
    assert disks is not None
    found = {word: node.facts for word in ("list", "delete", "purge", "zones") if (node := disks.find(word))}
    assert {word: facts and facts["effect"] for word, facts in found.items()} == {
        "list": "reads",
        "delete": "deletes",
        "purge": "deletes",
        "zones": None,
    }
    delete = disks.find("delete")
    assert delete is not None
    assert delete.find("list") is None


def test_flag_of_a_subcommand_takes_no_value_that_it_takes_before_it() -> None:
    """In `compose -f FILE rm -f`, the second `-f` is a flag."""
    program = build_entry("compose", {"values": {"text": ["-f"]}})
    assert program.roles == {"f": "text"}
    below = build_entry("compose rm", {"flags": ["-f"]}, program)
    assert below.roles == {}
    assert below.knows("f")


def test_providers_are_known_by_their_hosts() -> None:
    """A host below that of a provider counts, one that only ends alike does not, and some need an address."""
    assert find_provider("api.eu.mailgun.net", "https://api.eu.mailgun.net/v3") == "send_email"
    assert find_provider("notmailgun.net", "https://notmailgun.net/") == ""
    assert (
        find_provider("graph.microsoft.com", "https://graph.microsoft.com/v1.0/me/sendMail") == "send_email"
    )
    assert find_provider("graph.microsoft.com", "https://graph.microsoft.com/v1.0/me") == ""
    assert is_trial("-u sk_test_1:")
    assert not is_trial("-u sk_live_1:")
