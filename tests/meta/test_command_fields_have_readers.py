"""Every field of a command catalog changes how a command is read."""

from __future__ import annotations

import copy
from typing import Any, Final

import msgspec
import pytest

from orgkernel.documents.records import ProgramEntry
from orgkernel.shell.catalog import CommandPrograms
from orgkernel.shell.check import explain_command, find_writes
from orgkernel.shell.ownership import Ground

ENTRY: Final[dict[str, Any]] = {
    "effect": "writes",
    "subcommands": [
        {"names": ["run"], "effect": "writes"},
        {"names": ["drop"], "effect": "deletes", "removes": "branch"},
    ],
}
# The route of a field below the program or its subcommand (`0`), another value, and a command that it changes.
CHANGES: Final = [
    ("effect", "deletes", "ctl"),
    ("operation", "publish", "ctl"),
    ("also", ["ktl"], "ktl run"),
    ("otherwise", "reads", "ctl other"),
    ("opens", "trees", "ctl run src"),
    ("flags", ["--prune"], "ctl --prune"),
    ("subcommands", [], "ctl run"),
    ("0.names", ["run", "walk"], "ctl walk"),
    ("0.effect", "changes", "ctl run"),
    ("0.operation", "send_sms", "ctl run"),
    ("0.values", {"shell": ["-c"]}, "ctl run -c 'rm -rf /srv'"),
    ("0.operands", "tree_deleted", "ctl run /srv"),
    ("0.operands", {"first": ["text"], "rest": "text", "last": "tree_deleted"}, "ctl run a /srv"),
    ("0.operands", {"first": ["tree_deleted"]}, "ctl run /srv a"),
    ("0.operands", {"rest": "tree_deleted"}, "ctl run /srv /opt"),
    ("0.harmless_with", ["--purge"], "ctl run --purge"),
    ("0.piped", "shell", "echo 'rm -rf /srv' | ctl run"),
    ("0.prints", "nothing", "ctl run | sh"),
    ("0.reader", "find", "ctl run /srv -delete"),
    ("0.unseen", True, "ctl run"),
    ("0.files", ["package.json"], "ctl run"),
    ("0.opens", "nothing", "ctl run a.txt"),
    ("0.names_only_with", ["-n"], "ctl run -n 3 a.txt"),
    ("0.makes", "branch", "ctl run tmp && ctl drop tmp"),
    ("0.cases", [{"options": ["-f"], "effect": "deletes"}], "ctl run -f"),
    ("0.cases", [{"options": ["-a"], "and_options": ["-f"], "effect": "deletes"}], "ctl run -a -f"),
    ("0.cases", [{"options": ["-f"], "unless": ["-n"], "effect": "deletes"}], "ctl run -f"),
    ("0.cases", [{"operand": "x+", "effect": "deletes"}], "ctl run xxx"),
    ("0.cases", [{"operand": "x", "position": 2, "effect": "deletes"}], "ctl run a x"),
    ("0.cases", [{"at_least": 2, "effect": "deletes"}], "ctl run a b"),
    ("0.cases", [{"at_most": 0, "effect": "deletes"}], "ctl run"),
    ("0.cases", [{"piped": True, "effect": "deletes"}], "echo a | ctl run"),
    ("0.cases", [{"safeguard": True, "effect": "deletes"}], "ctl run nightly-backup"),
    ("0.cases", [{"unclear": True, "effect": "deletes"}], "ctl run $x"),
    ("0.cases", [{"at_least": 0, "operation": "publish"}], "ctl run"),
    ("0.cases", [{"at_least": 0, "operands": "tree_deleted"}], "ctl run /srv"),
    ("0.cases", [{"at_least": 0, "unseen": True}], "ctl run"),
    ("0.cases", [{"at_least": 0, "files": ["Cargo.toml"]}], "ctl run"),
    ("0.cases", [{"at_least": 0, "makes": "branch"}], "ctl run tmp && ctl drop tmp"),
]  # fmt: skip
# A use that makes what another one removes.
MAKING: Final = {"names": ["new"], "effect": "adds", "makes": "branch"}
BESIDE: Final = [
    # The field, the entry that it is added to, and a command that it changes.
    ("options_first", {"effect": "reads", "cases": [{"options": ["-b"], "effect": "deletes"}]}, True, "ctl a -b"),
    ("bundled", {"effect": "reads", "values": {"path_written": ["-f"]}}, True, "ctl xf /etc/hosts"),
    ("elsewhere", {"effect": "reads", "operands": "command"}, True, "ctl rm -rf build"),
    ("message", {"effect": "deletes"}, "wipes it", "ctl"),
    ("removes", {"effect": "deletes", "cases": [{"options": ["--new"], "effect": "adds", "makes": "branch"}]}, "branch", "ctl --new tmp && ctl tmp"),
    ("named_by", {"effect": "deletes", "removes": "branch", "values": {"text": ["-n"]}, "subcommands": [MAKING]}, ["-n"], "ctl new tmp && ctl -n tmp"),
    ("cases", {"effect": "reads", "values": {"text": ["-x"]}}, [{"options": ["-x"], "value": "DELETE", "effect": "deletes"}], "ctl -x DELETE"),
    ("cases", {"effect": "reads", "values": {"text": ["-f"]}}, [{"at_least": 0, "values": {"path_written": ["-f"]}}], "ctl -f /etc/hosts"),
    ("cases", {"effect": "deletes"}, [{"at_least": 0, "message": "wipes it"}], "ctl"),
    ("cases", {"effect": "reads", "operands": "sql"}, [{"at_least": 0, "in_memory": True}], "ctl 'drop table x'"),
    ("cases", {"effect": "deletes"}, [{"options": ["--new"], "effect": "adds", "makes": "branch"}, {"unless": ["--new"], "removes": "branch"}], "ctl --new tmp && ctl tmp"),
]  # fmt: skip
# What a reader of the catalog is told, and no answer depends on.
TOLD_ONLY: Final = {
    "CommandCatalog": {"description", "source", "programs"},
    "ProgramEntry": {"description"},
    "SubcommandEntry": {"description"},
}
FIELDS: Final = frozenset(
    {route.removeprefix("0.") for route, _, _ in CHANGES}
    | {field for field, _, _, _ in BESIDE}
    | {name for _, value, _ in CHANGES if isinstance(value, list) for each in value if isinstance(each, dict) for name in each}
    | {name for _, _, value, _ in BESIDE if isinstance(value, list) for each in value for name in each}
    | {"first", "rest", "last", "subcommands"}
)  # fmt: skip
"""The fields of a command catalog that an answer depends on."""


def observe(entry: dict[str, Any], command: str) -> object:
    """What is known about a command with this entry."""
    facts = msgspec.to_builtins(msgspec.convert(entry, ProgramEntry))
    for each in (facts, *facts.get("subcommands", ())):
        each["at"] = "commands.yaml:1"
    programs = CommandPrograms({"ctl": facts})
    return (
        explain_command(command, programs=programs),
        find_writes(command, Ground(own=("**",)), programs),
    )


@pytest.mark.parametrize(("route", "value", "command"), CHANGES, ids=str)
def test_another_value_changes_how_a_command_is_read(route: str, value: object, command: str) -> None:
    """The entry with the field, and the same without it."""
    changed = copy.deepcopy(ENTRY)
    above, _, field = route.rpartition(".")
    (changed["subcommands"][0] if above else changed)[field] = value
    assert observe(changed, command) != observe(ENTRY, command)


@pytest.mark.parametrize(("field", "entry", "value", "command"), BESIDE, ids=str)
def test_a_field_changes_what_another_says(
    field: str, entry: dict[str, Any], value: object, command: str
) -> None:
    """It counts only beside another one."""
    assert observe({**entry, field: value}, command) != observe(entry, command)
