"""Migrations and tables say the same, on each engine."""

from __future__ import annotations

import re

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, MetaData, inspect, text, update

from orgkernel.decisions.evidence.state_view import AgentState, QualificationResult
from orgkernel.errors import BadStore
from orgkernel.state import migrating
from orgkernel.state.database import make_engine, open_for_writing
from orgkernel.state.migrating import upgrade_store
from orgkernel.state.schema_version import NEWEST, VERSIONS
from orgkernel.state.tables import metadata, state_version
from tests.state.opening import opened, sqlite_at
from tests.support.salute import salute


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest):
    if request.param == "sqlite":
        return sqlite_at(request.getfixturevalue("quick_folder"))
    return request.getfixturevalue("empty_postgres_place")


def test_migrations_make_the_tables_that_are_declared(place) -> None:
    """Alembic finds nothing left to do."""
    make_old(place, "head")
    engine = make_engine(place)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_a_new_store_is_as_one_that_went_through_all_migrations(place) -> None:
    """It is made at once from what is declared: column by column, key by key, with the same first rows."""
    make_old(place, "head")
    engine = make_engine(place)
    migrated = found_in(engine)
    with open_for_writing(engine) as connection:
        migrated_tables = MetaData()
        migrated_tables.reflect(connection)
        migrated_tables.drop_all(connection)
    engine.dispose()
    with opened(place) as store:
        assert found_in(store.engine) == migrated


def found_in(engine: Engine) -> dict[str, object]:
    """All that a database says of its tables; columns by name, because a migration adds them at the end."""
    look = inspect(engine)
    with engine.connect() as connection:
        rows = [
            connection.scalars(text(each)).all()
            for each in ("SELECT id FROM state_version", "SELECT version_num FROM alembic_version")
        ]
    return {
        "rows": rows,
        **{
            name: (
                sorted(
                    (each["name"], str(each["type"]), each["nullable"], str(each.get("default")))
                    for each in look.get_columns(name)
                ),
                look.get_pk_constraint(name)["constrained_columns"],
                sorted(map(str, look.get_foreign_keys(name))),
                sorted(map(str, look.get_unique_constraints(name))),
                sorted(re.sub(r"0x[0-9a-f]+", "", str(each)) for each in look.get_indexes(name)),
            )
            for name in look.get_table_names()
        },
    }


def test_the_versions_that_are_listed_are_those_there_are() -> None:
    """In this order: opening a store must not read the folder."""
    scripts = ScriptDirectory(migrating._FOLDER)
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(VERSIONS)


def make_old(place, version: str, *rows: str) -> None:
    """A store as an older program left it."""
    engine = make_engine(place)
    with open_for_writing(engine) as connection:
        migrating.migrate(connection, version)
        for row in rows:
            connection.execute(text(row))
        connection.execute(update(state_version).values(version=1))
    engine.dispose()


def test_a_store_of_the_first_version_is_upgraded_on_command(place) -> None:
    """Until then it is refused and left alone; what it held is there afterwards, and reports can be stored."""
    make_old(place, "0001", "INSERT INTO agents VALUES ('worf', 'ensign', 0.5, 'active', 1)")
    with pytest.raises(BadStore, match="has version 0001") as refusal:
        opened(place)
    assert "orgkernel store upgrade" in refusal.value.help
    assert upgrade_store(place) == ("0001", NEWEST)
    with opened(place) as store:
        assert store.read_view("shop").agents == {"worf": AgentState("worf", "ensign", 0.5, "active", "*")}
        assert store.reports.record(salute(), actor="a").outcome == "stored"
        assert set(store.read_view().reports) == {"role:bugfix_specialist"}


_GRANT = (
    "INSERT INTO grants (grant_id, subject, resources, level, waives, org_id, reason, issued_by, issued_at, "
    "expiry_noted, version) VALUES ('{}', 'agent:worf', '[\"tool:x\"]', 'full', '[]', {}, '', 'a', 1, FALSE, 1)"
)
_RESTRICTION = (
    "INSERT INTO restrictions (restriction_id, subject, resources, level, reason, issued_by, issued_at, "
    "expiry_noted, version) VALUES ('x-1', 'agent:worf', '[\"tool:x\"]', 'none', '', 'a', 1, FALSE, 1)"
)
_REQUEST = (
    "INSERT INTO requests (request_id, requester, resources, created_at, expires_at, kind, level, waives, org_id, "
    "reason, summary, original_message, status) VALUES "
    "('{}', 'agent:worf', '[\"tool:x\"]', 1, 1e10, 'access', 'full', '[]', {}, '', '', '', 'pending')"
)


def test_what_belonged_to_no_organization_only_takes_away(place) -> None:
    """Grants sleep, requests have expired, results count nowhere; restrictions, suspensions and ranks hold in all."""
    make_old(
        place,
        "0002",
        "INSERT INTO agents VALUES ('worf', 'ensign', 0.5, 'suspended', 1)",
        "INSERT INTO qualification_results (agent_id, qualification, score, passed, at, version) "
        "VALUES ('worf', 'helm', 1, TRUE, 1, 1)",
        _GRANT.format("g-1", "NULL"),
        _GRANT.format("g-2", "'shop'"),
        _RESTRICTION,
        _REQUEST.format("r-1", "NULL"),
        _REQUEST.format("r-2", "'shop'"),
    )
    upgrade_store(place)
    with opened(place) as store:
        for org in ("shop", "yard"):
            view = store.read_view(org)
            assert view.agents == {"worf": AgentState("worf", "ensign", 0.5, "suspended", "*")}
            assert view.results == {}
            assert [each.grant_id for each in view.grants["agent:worf"]] == ["g-2"]
            assert [each.grant_id for each in view.asleep["agent:worf"]] == ["g-1"]
            assert [each.org_id for each in view.restrictions["agent:worf"]] == ["*"]
        assert view.version == 2
        assert [each.status for each in store.requests.list()] == ["expired", "pending"]
        assert store.grants.wake("g-1", org_id="shop", actor="a").org_id == "shop"
        assert [each.org_id for each in store.read_view().grants["agent:worf"]] == ["shop", "shop"]


def test_what_was_stored_before_skills_rests_on_nothing_and_has_counted_nothing(place) -> None:
    """Results have no sample size and no digests, and agents no outcomes; nothing else about them changes."""
    make_old(
        place,
        "0004",
        "INSERT INTO agents VALUES ('shop', 'worf', 'ensign', 0.5, 'active', 1)",
        "INSERT INTO qualification_results (agent_id, qualification, score, passed, at, org_id, version) "
        "VALUES ('worf', 'helm', 1, TRUE, 1, 'shop', 1)",
    )
    upgrade_store(place)
    with opened(place) as store:
        view = store.read_view("shop")
        assert view.agents == {"worf": AgentState("worf", "ensign", 0.5, "active", "shop", 0, 0)}
        assert view.results == {"worf": (QualificationResult("worf", "helm", 1, True, 1, None, "shop", 1),)}
        assert view.skills == {}


def test_a_level_that_an_old_result_gave_rests_on_it(place) -> None:
    """Before version 0013 a raise did not name its result: it is the one of the same agent, test and time."""
    history = (
        "INSERT INTO skill_assessments (org_id, agent_id, skill, at, activity, proficiency, source, actor, note) "
        "VALUES ('shop', 'worf', 'maps', {}, '{}', {}, 'qualification', 'a', '{}')"
    )
    make_old(
        place,
        "0012",
        "INSERT INTO qualification_results (agent_id, qualification, score, passed, at, org_id, version) "
        "VALUES ('worf', 'theory', 1, TRUE, 5, 'shop', 1), ('worf', 'drill', 1, TRUE, 7, 'shop', 1)",
        "INSERT INTO skill_records (org_id, agent_id, skill, proficiency, acquired_at, exercises, source, suspended, "
        "decays_from, version) VALUES ('shop', 'worf', 'maps', 3, 1, 0, 'qualification', FALSE, 7, 1)",
        history.format(1, "acquired", 1, ""),
        history.format(5, "raised", 2, "passed theory"),
        history.format(7, "raised", 3, "passed drill"),
        history.format(9, "raised", 3, "passed drill"),
    )
    upgrade_store(place)
    with opened(place) as store:
        (held,) = store.read_view("shop").skills["worf"]
        assert held.raised_by == ("theory", "drill")
        store.results.invalidate(2, org_id="shop", actor="a", reason="leaked")
        (held,) = store.read_view("shop").skills["worf"]
        assert (held.proficiency, held.raised_by) == (2, ("theory",))


def test_what_was_stored_before_snapshots_is_for_every_version_of_the_documents(place) -> None:
    """Grants go on giving and requests can be answered, and both can be for one version afterwards."""
    make_old(place, "0009", _GRANT.format("g-1", "'shop'"), _REQUEST.format("r-1", "'shop'"))
    assert upgrade_store(place) == ("0009", NEWEST)
    with opened(place) as store:
        ((grant,),) = store.read_view("shop").grants.values()
        assert (grant.grant_id, grant.snapshot) == ("g-1", None)
        assert store.requests.approve("r-1", "day", responder="a")[1].snapshot is None
        bound = store.grants.issue(
            "agent:worf", ["tool:x"], issued_by="a", org_id="shop", snapshot=f"sha256:{'1' * 64}"
        )
        assert store.grants.get(bound.grant_id) == bound
