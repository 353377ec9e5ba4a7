"""Commands of the state, in a folder, one process after the other."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orgkernel.state.schema_version import NEWEST
from tests.cli.running import run
from tests.support.in_process import run_here

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ask(quick_folder: Path) -> Run:
    """Run a command; it has to end as the test says, without any error unless it says so."""

    def ask(
        *arguments: str, code: int = 0, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = run_here(*arguments, cwd=quick_folder, env=env)
        assert done.returncode == code, done.stderr
        return done

    return ask


def records(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return json.loads(done.stdout)


def test_a_grant_from_issue_to_revocation(ask: Run) -> None:
    """Each command prints data on stdout, and everything it did is in the audit."""
    issued = ask(
        "grant",
        "issue",
        "agent:worf",
        "tool:browser_agent",
        "--org",
        "ship",
        "--expires",
        "7d",
        "--uses",
        "3",
    )
    said = r"(g-[0-9a-f]{12}) gives agent:worf level full of tool:browser_agent in ship\n"
    name = re.fullmatch(said, issued.stdout)[1]
    listed = ask("grant", "list").stdout.splitlines()
    assert re.split(r"  +", listed[0]) == [
        "grant",
        "subject",
        "organization",
        "level",
        "until",
        "used",
        "by",
        "resources",
    ]
    assert listed[1].startswith(name)
    assert listed[1].endswith("0, 3 left  system:cli  tool:browser_agent")
    (grant,) = records(ask("grant", "list", "--subject", "agent:worf", "--format", "json"))
    assert (grant["grant_id"], grant["uses_left"], grant["issued_by"]) == (name, 3, "system:cli")
    assert ask("grant", "revoke", name, "--reason", "done").stdout == f"{name} revoked\n"
    assert ask("grant", "list").stderr == "none\n"
    assert "revoked 2" in ask("grant", "list", "--all").stdout
    assert "is already revoked" in ask("grant", "revoke", name, code=2).stderr
    rows = records(ask("audit", "query", "--record", name, "--format", "json"))
    assert [row["activity"] for row in rows] == ["revoked", "created"]


def test_a_list_of_grants_says_what_they_lift(ask: Run) -> None:
    """In the table and as JSON, with the level up to which they do."""
    waiving = ("--org", "post", "--level", "read", "--waive", "rank", "--waive", "visibility")
    ask("grant", "issue", "agent:worf", "tool:browser_agent", *waiving)
    listed = ask("grant", "list").stdout.splitlines()
    assert listed[1].endswith("tool:browser_agent (waives rank and visibility up to level read)")
    (grant,) = records(ask("grant", "list", "--format", "json"))
    assert grant["lifts"] == "waives rank and visibility up to level read"


def test_a_request_and_its_answers(ask: Run) -> None:
    """Approved once by default; an answer to an answered one is refused."""
    created = ask(
        "request",
        "create",
        "agent:worf",
        "tool:shell",
        "--org",
        "ship",
        "--kind",
        "action",
        "--reason",
        "repair",
    )
    name = created.stdout.split()[0]
    (request,) = records(ask("request", "list", "--status", "pending", "--format", "json"))
    assert (request["request_id"], request["kind"], request["reason"]) == (name, "action", "repair")
    refused = ask("request", "approve", name, "--by", "agent:worf", code=2).stderr
    assert "`agent:worf` is not declared, because there are no documents here" in refused
    approved = ask("request", "approve", name)
    given = r"g-[0-9a-f]{12} gives agent:worf level full of tool:shell in ship"
    assert re.fullmatch(f"{name} approved once: {given}\n", approved.stdout)
    assert f"error: the request `{name}` is approved" in ask("request", "deny", name, code=2).stderr
    other = ask("request", "create", "agent:worf", "tool:other", "--org", "ship").stdout.split()[0]
    assert ask("request", "deny", other).stdout == f"{other} denied\n"
    assert [row["status"] for row in records(ask("request", "list", "--format", "json"))] == [
        "approved",
        "denied",
    ]
    again = ask("request", "create", "agent:worf", "tool:other", "--org", "ship", code=2)
    assert f"denied request `{other}`, without a reason" in again.stderr
    assert "the same can be requested again at " in again.stderr


def test_agents_are_added_ranked_and_moved(ask: Run) -> None:
    """And listed."""
    ask("agent", "add", "worf", "--org", "ship", "--rank", "ensign", "--trust", "0.5")
    assert ask("agent", "set-rank", "worf", "lieutenant", "--org", "ship").stdout == "worf is lieutenant\n"
    ask("agent", "set-trust", "worf", "0.75", "--org", "ship")
    ask("agent", "move", "worf", "suspended", "--org", "ship", "--reason", "leave")
    assert (
        "cannot become probationary"
        in ask("agent", "move", "worf", "probationary", "--org", "ship", code=2).stderr
    )
    (agent,) = records(ask("agent", "list", "--format", "json"))
    assert agent == {
        "agent_id": "worf",
        "rank": "lieutenant",
        "trust": 0.75,
        "lifecycle": "suspended",
        "org_id": "ship",
        "successes": 0,
        "failures": 0,
        "trust_now": {
            "mean": 0.75,
            "alpha": 3.0,
            "beta": 1.0,
            "prior_mean": 0.75,
            "prior_weight": 4.0,
            "successes": 0,
            "failures": 0,
        },
    }
    assert (
        "there is no agent `data`"
        in ask("agent", "set-rank", "data", "ensign", "--org", "ship", code=2).stderr
    )


def test_a_key_is_printed_once(ask: Run, quick_folder: Path) -> None:
    """On stdout and nothing else there, so that a script can take it; the store does not have it."""
    made = ask(
        "key",
        "create",
        "ci",
        "--scope",
        "read",
        "--scope",
        "grant",
        "--agent",
        "worf",
        "--org",
        "ship",
        "--expires",
        "30d",
    )
    assert re.fullmatch(r"orgk_[A-Za-z0-9_-]{43}\n", made.stdout)
    assert "not shown again" in made.stderr
    (key,) = records(ask("key", "list", "--format", "json"))
    assert (key["name"], key["scopes"], key["agent_id"]) == ("ci", ["read", "grant"], "worf")
    secret = made.stdout.strip()
    for path in (quick_folder / ".orgkernel").rglob("*"):
        assert path.is_dir() or secret[5:].encode() not in path.read_bytes()
    assert ask("key", "revoke", key["key_id"]).stdout == f"{key['key_id']} revoked\n"
    assert "revoked 2" in ask("key", "list").stdout
    as_json = json.loads(ask("key", "create", "other", "--scope", "admin", "--format", "json").stdout)
    assert as_json["key"].startswith("orgk_")


def test_a_key_is_replaced_while_both_hold(ask: Run) -> None:
    """The new key has the rights of the old one, which expires. A key that expires soon is reported unless it
    has a successor.
    """
    ask("key", "create", "ci", "--scope", "read", "--expires", "3d")
    (old,) = records(ask("key", "list", "--format", "json"))
    told = ask("key", "list").stderr
    assert re.fullmatch(
        f"note: {old['key_id']} expires at [^ ]+; replace it with `orgkernel key rotate {old['key_id']}`\n",
        told,
    )
    made = ask("key", "rotate", str(old["key_id"]), "--overlap", "1h", "--expires", "90d")
    assert re.fullmatch(r"orgk_[A-Za-z0-9_-]{43}\n", made.stdout)
    first, second = records(ask("key", "list", "--format", "json"))
    assert (first["key_id"], second["scopes"], second["name"]) == (old["key_id"], ["read"], "ci")
    assert 0 < float(str(first["expires_at"])) - float(str(second["created_at"])) <= 3600
    assert ask("key", "list").stderr == ""
    ask("key", "rotate", str(second["key_id"]), "--overlap", "0s")
    assert "has expired" in ask("key", "rotate", str(second["key_id"]), code=2).stderr
    assert (
        "is not a duration" in ask("key", "rotate", str(first["key_id"]), "--overlap", "soon", code=2).stderr
    )


def test_locks_are_listed_and_broken(ask: Run, quick_folder: Path) -> None:
    """By hand, when their holder is gone."""
    from orgkernel.kernel.settings import Project
    from orgkernel.kernel.stored import locate_store, open_store

    with open_store(locate_store(Project(str(quick_folder)), str(quick_folder), environment={})) as store:
        store.locks.acquire("shop", "press", "agent:worf")
    assert ask("lock", "list").stdout.splitlines()[1].split()[:3] == ["shop", "press", "1"]
    broken = ask("lock", "break", "shop", "press")
    assert broken.stdout == "the lock 1 of press, held by agent:worf, is broken\n"
    assert "the tool `press` is not locked" in ask("lock", "break", "shop", "press", code=2).stderr
    assert ask("lock", "list", "--format", "json").stdout == "[]\n"


def test_a_record_that_was_changed_is_found(ask: Run, quick_folder: Path) -> None:
    """Verify exits 0 while all is whole, 1 when it is not, and names the row."""
    ask("agent", "add", "worf", "--org", "ship")
    assert ask("audit", "verify").stderr == "the audit is unchanged: 1 row in 1 chain\n"
    connection = sqlite3.connect(quick_folder / ".orgkernel" / "state.db")
    with connection:
        connection.execute("UPDATE audit SET body = replace(body, 'worf', 'data')")
    connection.close()
    found = ask("audit", "verify", code=1)
    assert re.fullmatch(r"changed: row [0-9a-f]{12}:history:1 was changed\n", found.stdout)
    (finding,) = json.loads(ask("audit", "verify", "--format", "json", code=1).stdout)["findings"]
    assert finding["problem"] == "changed"
    empty = quick_folder / "elsewhere"
    empty.mkdir()
    assert "there is no key" in ask("audit", "verify", "--checkpoints", str(empty), code=1).stdout


def test_the_audit_is_exported_whole(ask: Run) -> None:
    """As CSV that no spreadsheet takes for formulas, and as JSON lines, which say the same."""
    ask("agent", "add", "worf", "--org", "ship", "--reason", "=cmd()")
    ask("agent", "set-rank", "worf", "ensign", "--org", "ship", "--reason", 'a "quoted", \n split word')
    table = list(csv.DictReader(io.StringIO(ask("audit", "export").stdout)))
    lines = [json.loads(line) for line in ask("audit", "export", "--format", "jsonl").stdout.splitlines()]
    assert [row["reason"] for row in table] == ['a "quoted", \n split word', "'=cmd()"]
    assert [row["reason"] for row in lines] == ['a "quoted", \n split word', "=cmd()"]
    assert [row["row"] for row in table] == [row["row"] for row in lines]
    assert json.loads(table[0]["detail"]) == lines[0]["detail"]
    assert set(table[0]) == set(lines[0]) - {"at"}


def test_the_audit_is_asked(ask: Run) -> None:
    """By kind, time and subject; and for what it adds up to."""
    ask("agent", "add", "worf", "--org", "ship")
    ask("grant", "issue", "agent:worf", "tool:x", "--all-orgs")
    assert len(records(ask("audit", "query", "--format", "json"))) == 2
    assert len(records(ask("audit", "query", "--kind", "grant", "--since", "1h", "--format", "json"))) == 1
    assert records(ask("audit", "query", "--until", "2020-01-01", "--format", "json")) == []
    assert len(ask("audit", "query", "--limit", "1").stdout.splitlines()) == 2
    for count in ("senders", "policies", "decisions"):
        assert ask("audit", "query", "--count", count).stderr == "none\n"
    assert (
        json.loads(ask("audit", "query", "--count", "decisions", "--format", "json").stdout)["outcomes"] == {}
    )
    assert "is not a time" in ask("audit", "query", "--since", "soon", code=2).stderr
    assert ask("audit", "prune").stderr == "0 rows dropped in 0 segments\n"


def test_where_the_store_is(ask: Run, quick_folder: Path) -> None:
    """The option, else the environment, else the settings, else beside them; a reader makes none."""
    nothing = ask("grant", "list", code=2)
    assert "there is no store" in nothing.stderr
    assert list(quick_folder.iterdir()) == []
    (quick_folder / "orgkernel.toml").write_text('store = "kept/../settings.db"\n')
    ask("agent", "add", "a", "--org", "ship")
    ask("agent", "add", "a", "--org", "ship", env={"ORGKERNEL_STORE": "environment.db"})
    ask(
        "agent",
        "add",
        "a",
        "--org",
        "ship",
        "--store",
        "option.db",
        env={"ORGKERNEL_STORE": "environment.db"},
    )
    below = quick_folder / "below"
    below.mkdir()
    assert run_here("agent", "list", cwd=below).returncode == 0
    assert sorted(path.name for path in quick_folder.glob("*.db")) == [
        "environment.db",
        "option.db",
        "settings.db",
    ]
    (quick_folder / "orgkernel.toml").write_text("store = 5\n")
    assert "`store` is not a string" in ask("agent", "list", code=2).stderr


def test_a_store_is_described_copied_and_upgraded(ask: Run, quick_folder: Path) -> None:
    """The copy is a store of its own."""
    assert ask("store", "upgrade").stderr == f"version none → {NEWEST}\n"
    ask("agent", "add", "worf", "--org", "ship")
    info = json.loads(ask("store", "info", "--format", "json").stdout)
    assert (info["engine"], info["version"], info["rows"]["agents"]) == ("sqlite", NEWEST, 1)
    assert "rows of audit" in ask("store", "info").stdout
    ask("store", "backup", "copy.db")
    assert "exists" in ask("store", "backup", "copy.db", code=2).stderr
    assert ask("agent", "list", "--store", "copy.db").stdout == ask("agent", "list").stdout
    ask("audit", "verify", "--store", "copy.db")
    assert ask("store", "upgrade").stderr == f"version {NEWEST}, nothing to do\n"


@pytest.mark.parametrize(
    ("store", "says"),
    [
        (".", "is a folder"),
        ("orgkernel.toml", "is not a database"),
        ("none/state.db", "cannot be used: No such file"),
        ("ftp://x", "has an unknown scheme"),
        ("postgresql://u:hunter2@127.0.0.1:1/x", "does not answer"),
    ],
)
def test_a_store_that_cannot_be_used_is_said(ask: Run, quick_folder: Path, store: str, says: str) -> None:
    """With exit code 2 and no traceback, and no password."""
    (quick_folder / "orgkernel.toml").write_text("# nothing\n" * 100)
    done = ask("agent", "add", "worf", "--org", "ship", "--store", store, code=2)
    assert says in done.stderr
    assert "hunter2" not in done.stderr


def test_a_command_of_its_own_process_writes_before_it_ends(quick_folder: Path) -> None:
    """Through the console script: nothing is left to a thread that dies with the process."""
    assert run("agent", "add", "worf", "--org", "ship", cwd=quick_folder).stdout == "worf added\n"
    assert run("audit", "verify", cwd=quick_folder).returncode == 0
    assert run("agent", "list", cwd=quick_folder).stdout.splitlines()[1].split()[0] == "worf"


def make_old_keys(place: Path) -> list[str]:
    """A store of before organizations of keys with one of an agent, one of a person, and one of an operator."""
    from sqlalchemy import text

    from orgkernel.state import migrating
    from orgkernel.state.database import make_engine, open_for_writing
    from orgkernel.state.location import parse_location

    engine = make_engine(parse_location(str(place), str(place.parent)))
    with open_for_writing(engine) as connection:
        migrating.migrate(connection, "0011")
        for key_id, agent, person in (
            ("k-1", "'worf'", "NULL"),
            ("k-2", "NULL", "'owner'"),
            ("k-3", "NULL", "NULL"),
        ):
            connection.execute(
                text(
                    "INSERT INTO api_keys (key_id, name, digest, scopes, agent_id, created_by, created_at, person_id) "
                    f"VALUES ('{key_id}', 'ci', '{key_id}', '[\"read\"]', {agent}, 'a', 1, {person})"
                )
            )
    engine.dispose()
    return ["k-1", "k-2"]


def test_an_upgrade_asks_for_the_organizations_of_keys(ask: Run, quick_folder: Path) -> None:
    """It changes nothing until they are stated; a key of an operator is good for all."""
    place = quick_folder / "old.db"
    make_old_keys(place)
    where = ("--store", str(place))
    refused = ask("store", "upgrade", *where, code=2).stderr
    assert (
        "2 keys of agents or people name no organization: `k-1 (ci, agent:worf)`, `k-2 (ci, person:owner)`"
        in refused
    )
    assert "`--key-org ORG`" in refused
    assert "has version 0011" in ask("key", "list", *where, code=2).stderr
    assert (
        "is no valid key without an organization"
        in ask("store", "upgrade", *where, "--key-org", "k-3=ship", code=2).stderr
    )
    done = ask("store", "upgrade", *where, "--key-org", "k-2=dock", "--key-org", "ship").stderr
    assert done.splitlines()[-3:] == [
        f"version 0011 → {NEWEST}", "k-1 is good for `ship`", "k-2 is good for `dock`",
    ]  # fmt: skip
    keys = records(ask("key", "list", *where, "--format", "json"))
    assert [key["org_ids"] for key in keys] == [["ship"], ["dock"], []]
    assert "  ship  " in ask("key", "list", *where).stdout


def test_keys_that_are_left_are_good_for_none(ask: Run, quick_folder: Path) -> None:
    """The list, `doctor` and a second upgrade say so, and `key bind` states the organization once."""
    place = quick_folder / "old.db"
    make_old_keys(place)
    where = ("--store", str(place))
    assert "note: k-1 is good for no organization" in ask("store", "upgrade", *where, "--leave-keys").stderr
    assert "k-2 names no organization, so it is good for none" in ask("key", "list", *where).stderr
    assert "names no organization" in ask("doctor", *where, code=1).stdout
    assert ask("key", "bind", "k-1", "--org", "ship", *where).stdout == "k-1 is good for `ship`\n"
    assert "is bound to `ship` already" in ask("key", "bind", "k-1", "--org", "dock", *where, code=2).stderr
    assert (
        ask("store", "upgrade", *where, "--key-org", "k-2=dock").stderr.splitlines()[-1]
        == "k-2 is good for `dock`"
    )
    assert "no organization" not in ask("key", "list", *where).stderr
