"""`orgkernel doctor`: what is wrong is said with the way out, nothing is changed, and no secret is printed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from orgkernel.cli.operate.checkup import check_everything
from orgkernel.cli.operate.checkup_report import CheckupOptions
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.stored import open_store
from orgkernel.state.location import parse_location
from orgkernel.state.store import Store
from tests.cli.running import ORGKERNEL, SHOP
from tests.support.certificates import make_certificate
from tests.support.in_process import run_here
from tests.support.trees import write_tree


def doctor(folder: Path, *options: str, **env: str) -> tuple[int, list[dict[str, str]]]:
    """The exit code, and what was found."""
    cache = str(folder.parent / "cache")
    done = run_here("doctor", "--format", "json", *options, cwd=folder, env={"XDG_CACHE_HOME": cache} | env)
    assert done.stderr == "", done.stderr
    return done.returncode, json.loads(done.stdout)["checks"]


def not_ok(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return [each for each in found if each["status"] != "ok"]


def store_in(folder: Path, **options: Any) -> Store:
    return Store(
        parse_location(".orgkernel/state.db", str(folder)),
        clock=options.pop("clock", time.time), tokens=os.urandom, **options,
    )  # fmt: skip


def add_key(folder: Path, seconds: float | None = None, **options: Any) -> str:
    with store_in(folder, **options) as store:
        until = None if seconds is None else time.time() + seconds
        return store.keys.create("ops", ["admin"], created_by="test", expires_at=until)[1]


def look_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything that a change would change."""
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def test_all_is_well_and_nothing_is_changed(shop: Path) -> None:
    """`doctor` reports no problem and changes no file, with and without a store, and while a process has the store open."""
    for prepare in (lambda: None, lambda: add_key(shop)):
        prepare()
        before = look_of(shop.parent)
        assert doctor(shop)[0] == 0
        assert not_ok(doctor(shop)[1]) == []
        assert look_of(shop.parent) == before
    with store_in(shop) as store:
        store.keys.create("two", ["admin"], created_by="test")
        before = look_of(shop.parent)
        code, found = doctor(shop)
        after = look_of(shop.parent)
    shared = str(shop / ".orgkernel/state.db-shm")  # in memory: who reads is noted there
    assert {name for name in after if after[name] != before.get(name)} <= {shared}
    assert (code, not_ok(found)) == (0, [])
    assert {each["check"] for each in found} >= {"python", "packages", "settings", "documents", "cache", "store",
                                                 "audit", "keys", "address"}  # fmt: skip
    assert any(each["message"].startswith("2 valid API keys") for each in found)


def test_an_empty_store_is_not_given_tables(shop: Path) -> None:
    """Nor is an older one upgraded."""
    (shop / ".orgkernel").mkdir(mode=0o700)
    path = shop / ".orgkernel/state.db"
    path.touch(mode=0o600)
    before = look_of(shop)
    code, found = doctor(shop)
    assert (code, [each["message"] for each in not_ok(found)]) == (
        1,
        [f"the store {quote(str(path))} has no tables yet"],
    )
    assert look_of(shop) == before


def settings(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "orgkernel.toml").write_text(text) and None


def foreign_settings(folder: Path) -> None:
    settings('store = "state.db"\n')(folder)
    (folder / "orgkernel.toml").chmod(0o666)


def both_settings(folder: Path) -> None:
    settings("")(folder)
    (folder / "pyproject.toml").write_text("[tool.orgkernel]\n")


def misspelled(folder: Path) -> None:
    path = folder / "roles/dev.yaml"
    path.write_text(path.read_text().replace("[codegen]", "[codgen]"))


def open_document(folder: Path) -> None:
    (folder / "roles/dev.yaml").chmod(0o666)


def open_cache(folder: Path) -> None:
    (folder.parent / "cache/orgkernel").mkdir(parents=True)
    (folder.parent / "cache/orgkernel").chmod(0o777)


def other_store(folder: Path) -> None:
    (folder / ".orgkernel").mkdir()
    (folder / ".orgkernel/state.db").write_bytes(b"nothing" * 999)


def stamped(version: str) -> Callable[[Path], None]:
    def build(folder: Path) -> None:
        store_in(folder).close()
        with closing(sqlite3.connect(folder / ".orgkernel/state.db")) as database, database:
            database.execute("UPDATE alembic_version SET version_num = ?", (version,))
        database.close()

    return build


def cut(folder: Path) -> None:
    add_key(folder)
    with closing(sqlite3.connect(folder / ".orgkernel/state.db")) as database, database:
        database.execute("DELETE FROM audit")
    database.close()


def lost(folder: Path) -> None:
    add_key(folder)
    (folder / ".orgkernel/state.db").unlink()


def without_key(folder: Path) -> None:
    add_key(folder)
    (folder / ".orgkernel/state.db.audit/key").unlink()


def open_key(folder: Path) -> None:
    add_key(folder)
    (folder / ".orgkernel/state.db.audit/key").chmod(0o644)


def later(folder: Path) -> None:
    add_key(folder, clock=lambda: time.time() + 3_600)


def oidc(jwks: str) -> Callable[[Path], None]:
    return settings(f'[oidc]\nissuer = "https://id.example"\naudience = "o"\njwks = "{jwks}"\n')


def expired(folder: Path) -> None:
    make_certificate(folder, begins=-9, ends=-1)


def expiring(folder: Path) -> None:
    make_certificate(folder, ends=5)


TLS = ("--tls-certificate", "server.pem", "--tls-key", "server.key")
FAULTS: list[tuple[str, Callable[[Path], object], tuple[str, ...], tuple[str, str, str, str]]] = [
    ("settings_unreadable", settings("= ="), (), ("settings", "problem", "cannot be read", "")),
    ("setting_unknown", settings('stor = "x"'), (), ("settings", "problem", "`stor` is not known", "did you mean")),
    ("settings_of_others", foreign_settings, (), ("settings", "warning", "are ignored", "chmod go-w")),
    ("store_of_others", foreign_settings, (), ("store", "problem", "`store` is ignored, because", "chmod go-w")),
    ("settings_ignored", both_settings, (), ("settings", "warning", "pyproject.toml", "keep one")),
    ("organization_broken", misspelled, (), ("documents", "problem", "1 error", "orgkernel check")),
    ("path_missing", lambda _: None, ("--path", "none"), ("documents", "problem", "does not exist", "path")),
    ("active_unknown", settings('active = "shp"'), (), ("documents", "problem", "shp", "did you mean")),
    ("document_of_others", open_document, (), ("documents", "warning", "roles/dev.yaml", "chmod -R go-w")),
    ("cache_of_others", open_cache, (), ("cache", "warning", "other users may write to it", "")),
    ("store_is_none", other_store, (), ("store", "problem", "is not a database", "choose another file")),
    ("store_older", stamped("0003"), (), ("store", "problem", "has version 0003", "store upgrade")),
    ("store_newer", stamped("9999"), (), ("store", "problem", "does not know", "newer orgkernel")),
    ("store_gone", lambda _: None, ("--store", "postgresql://a:hidden@127.0.0.1:1/x"), ("store", "problem", "does not answer", "running")),
    ("audit_cut", cut, (), ("audit", "problem", "had reached row", "audit verify")),
    ("key_readable", open_key, (), ("files", "problem", "other users can read", "chmod")),
    ("clock_behind", later, (), ("clock", "problem", "behind the newest row", "set the clock")),
    ("key_expires", lambda folder: add_key(folder, 9_999), (), ("keys", "warning", "`ops`", "key rotate")),
    ("store_lost", lost, (), ("store", "problem", "the store is missing", "store restore")),
    ("key_of_audit_gone", without_key, (), ("audit", "problem", "key", "audit verify")),
    ("budget", add_key, ("--store-budget", "1"), ("store", "warning", "", "")),
    ("no_key_beyond_loopback", lambda _: None, ("--host", "0.0.0.0"), ("address", "problem", "not a loopback", "key create")),
    ("no_key_but_needed", lambda _: None, ("--require-key",), ("address", "problem", "no key exists", "key create")),
    ("no_tls_beyond_loopback", add_key, ("--host", "0.0.0.0"), ("address", "warning", "without TLS", "--tls-certificate")),
    ("certificate_expired", expired, TLS, ("certificate", "problem", "has expired", "renew it")),
    ("certificate_expires", expiring, TLS, ("certificate", "warning", "expires at", "SIGHUP")),
    ("jwks_missing", oidc("keys.json"), (), ("tokens", "problem", "cannot be read", "")),
    ("issuer_gone", oidc("https://me:hidden@127.0.0.1:1/keys"), (), ("tokens", "problem", "cannot be fetched", "network")),
    ("issuer_not_asked", oidc("https://me:hidden@127.0.0.1:1/keys"), ("--offline",), ("tokens", "warning", "not fetched", "--offline")),
    ("tool_unserved", settings("[toolbox.x]\nmcp = []"), (), ("toolbox", "problem", "MCP server needs", "")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "options", "expected"), [pytest.param(*each, id=name) for name, *each in FAULTS]
)
def test_what_is_wrong_is_said_with_the_way_out(
    shop: Path, monkeypatch: pytest.MonkeyPatch, build: Callable[[Path], object], options: tuple[str, ...],
    expected: tuple[str, str, str, str],
) -> None:  # fmt: skip
    """A problem makes the command fail, a warning does not, and nothing is mended silently."""
    check, status, says, helps = expected
    if check == "store" and status == "warning":
        monkeypatch.setattr("orgkernel.operations.upkeep.measure", lambda store: 900_000)
    build(shop)
    before = look_of(shop.parent)
    code, found = doctor(shop, *options)
    fitting = [each for each in found if (each["check"], each["status"]) == (check, status)]
    assert any(says in each["message"] and helps in each["help"] for each in fitting), found
    assert code == any(each["status"] == "problem" for each in found)
    assert "hidden" not in json.dumps(found)
    assert look_of(shop.parent) == before


def test_packages_that_do_not_fit_and_extras_that_are_missing_are_named(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An extra is a problem only where the settings need it."""
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "click" else real(name))
    assert not_ok(doctor(shop)[1])[0]["message"] == "click 0.1 is installed, and >=8.2 is needed"

    def version(name: str) -> str:
        if name in ("pyjwt", "psycopg"):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    required = importlib.metadata.requires("orgkernel")
    assert required is not None
    elsewhere = "other-system>=1; sys_platform == 'elsewhere' and extra == 'uvloop'"
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: [*required, elsewhere])
    monkeypatch.setitem(sys.modules, "jwt", None)
    code, found = doctor(shop)
    assert code == 0
    assert found[1]["message"].endswith("not installed: `orgkernel[oidc]`, `orgkernel[postgres]`")
    oidc("keys.json")(shop)
    (problem,) = not_ok(doctor(shop)[1])
    assert (problem["check"], problem["message"], problem["help"]) == (
        "tokens", "tokens need PyJWT", "install the extra `orgkernel[oidc]`",
    )  # fmt: skip


def test_no_secret_is_printed(shop: Path) -> None:
    """Neither keys of the API nor the key of the audit, also not where something is wrong with them."""
    secret = add_key(shop, 999)
    key = shop / ".orgkernel/state.db.audit/key"
    files = make_certificate(shop)
    hidden = [secret, key.read_text().strip(), *Path(files.key).read_text().splitlines()[1:-1]]
    for damage in (lambda: None, lambda: key.write_text("zz" + hidden[1]), key.unlink):
        damage()
        for form in ("text", "json"):
            done = run_here("doctor", "--format", form, *TLS, cwd=shop)
            assert not [each for each in hidden if each in done.stdout + done.stderr]


def test_as_text_each_line_has_its_state_and_the_help_stands_below(shop: Path) -> None:
    """The summary goes to stderr."""
    done = run_here("doctor", "--host", "0.0.0.0", cwd=shop)
    assert done.returncode == 1
    assert done.stderr == "1 problem\n"
    lines = done.stdout.splitlines()
    assert lines[-2].startswith("problem  address      `0.0.0.0` is not a loopback address")
    assert lines[-1].startswith("                      help: without an API key")
    done = run_here("doctor", cwd=shop)
    assert (done.returncode, done.stderr) == (0, "no problems found\n")


def test_it_cannot_look_without_a_folder(tmp_path: Path) -> None:
    """That is no problem of the installation: 2."""
    command = 'mkdir gone && cd gone && rmdir ../gone && "$0" doctor'
    done = subprocess.run(
        ["sh", "-c", command, ORGKERNEL], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_a_store_that_is_only_read_cannot_be_written(shop: Path) -> None:
    """A store that was opened read-only refuses every write."""
    add_key(shop)
    location = parse_location(".orgkernel/state.db", str(shop))
    with (
        open_store(location, read_only=True) as store,
        pytest.raises(Exception, match=r"readonly|cannot be written"),
    ):
        store.keys.create("two", ["admin"], created_by="test")


def test_functions_of_a_toolbox_are_not_imported(shop: Path) -> None:
    """Importing them would run them."""
    (shop / "tools.py").write_text("raise SystemExit(9)\n")
    settings('[toolbox.x]\npython = "tools:x"\n')(shop)
    options = CheckupOptions(str(shop), {"HOME": str(shop)}, ("roles",))
    answers = {each.check: each for each in check_everything(options)}
    assert answers["toolbox"].message == "1 tool in the settings; 1 function not imported"


def test_a_certificate_that_ends_soon_is_reported_until_it_is_renewed(tmp_path: Path) -> None:
    """Not one that was revoked, and not one of an agent that was decommissioned."""
    roster = "_schema: orgkernel:crew_roster\nagents:\n  ann: {assignments: [{role: dev}]}\n"
    folder = write_tree(tmp_path / "shop", {**SHOP, "crew.yaml": roster})
    commission = ("agent", "commission", "ann", "--role", "dev")
    renew = ("agent", "renew-certificate", "ann")

    def find_warnings() -> list[str]:
        return [each["message"] for each in doctor(folder)[1] if each["check"] == "certificates"]

    def run(*words: str) -> None:
        done = run_here(*words, "--path", ".", cwd=folder)
        assert done.returncode == 0, done.stderr

    run(*commission)
    assert find_warnings() == []
    run(*renew, "--expires", "7d")
    (warning,) = find_warnings()
    assert warning.startswith("the certificate of `ann` in `shop` ends at 20")
    run(*renew)
    assert find_warnings() == []
    run(*renew, "--expires", "7d")
    run("agent", "revoke-certificate", "ann")
    assert find_warnings() == []
    run(*renew, "--expires", "7d")
    assert len(find_warnings()) == 1
    run("agent", "move", "ann", "decommissioned")
    assert find_warnings() == []
