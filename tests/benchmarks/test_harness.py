"""The harness: rows, missing measurements, medians, growth, and the gate on earlier ratios."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks.generate import (
    domains_and_tools,
    expected_in_mixed,
    expected_taker,
    generate,
    generate_mixed,
    is_expected,
)
from benchmarks.rows import ROWS, Row, rows_for
from benchmarks.table import growth, regressions, render
from benchmarks.turns import Result, measure, measure_folder
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.graph.schema import EdgeKind
from orgkernel.kernel.kernel import Kernel
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.trees import REPOSITORY

FASTER = Row("faster", ("measure_it", "seconds"), "s", ("floors", "call"), 2.0)
MORE = Row("more", ("measure_it", "per_second"), "/s", ("floors", "call"), 2.0, "more")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated organization."""
    folder = tmp_path_factory.mktemp("generated") / "measured"
    generate(folder, 230)
    return folder


def test_generated_organization_is_what_it_says(folder: Path) -> None:
    """It is served; its findings are those put in; twenty tools a role; triggers as many as roles."""
    kernel = Kernel.open(folder)
    index = kernel.organization("measured").snapshot.index
    assert len(index.roles) == 230
    assert {len(index.list_tools(role)) for role in index.roles} == {20}
    codes = [found.code for found in kernel.check()]
    assert codes.count("ORG507") == 2
    assert set(codes) == {"ORG306", "ORG507"}
    assert is_expected(len(codes), 230)
    triggers = {str(index.records.posts[role].profile.pace_plan.contingent.trigger) for role in index.roles}
    assert len(triggers) == 230


@pytest.mark.parametrize("many_findings", [False, True])
def test_mixed_styles_say_the_same_roles(folder: Path, tmp_path: Path, many_findings: bool) -> None:
    """Block, flow, JSON and quoted texts: the same posts, tools and superiors; the findings are those put in."""
    mixed = tmp_path / "measured"
    generate_mixed(mixed, 230, many_findings=many_findings)
    assert {path.suffix for path in (mixed / "roles").iterdir()} == {".yaml", ".json"}
    loader = Loader(resolve_paths([str(mixed)], str(tmp_path)), {})
    snapshot = loader.load()
    least, most = expected_in_mixed(230, many_findings=many_findings)
    assert least <= len(snapshot.diagnostics) <= most
    found, plain = snapshot.organizations["measured"].index, Kernel.open(folder).latest("measured").index
    assert found.superiors == plain.superiors
    equipped = EdgeKind.EQUIPPED_WITH
    assert [*map(partial(found.list_ends_from, equipped), found.roles)] == [
        *map(partial(plain.list_ends_from, equipped), plain.roles)
    ]
    descriptions = {post.profile.description for post in found.records.posts.values()}
    assert len(descriptions) == 230


def test_expected_taker_is_dispatched(folder: Path) -> None:
    """What benchmarks compare dispatch with agrees with it on every domain and several tools."""
    index = Kernel.open(folder).organization("measured").snapshot.index
    domains, tools = domains_and_tools()
    for domain in domains:
        for needs in ((), (tools[3],), (tools[5], tools[8]), ("no_such_tool",)):
            assert decide_dispatch(index, domain, needs=needs).role_id == expected_taker(domain, needs, 230)


def test_a_row_without_a_function_is_shown_as_missing(folder: Path) -> None:
    """A row whose function is not written yet stays in the table, and says so below it."""
    results = measure_folder(folder, [FASTER], 2, lambda _: None)
    assert results == {FASTER: Result(missing="nothing measures `measure_it` yet")}
    lines = [*render({230: results})]
    assert lines[1].split() == ["faster", "n/a", "≤", "2×"]
    assert lines[2:] == ["n/a: nothing measures `measure_it` yet"]


def test_failed_measurement_is_no_end(tmp_path: Path) -> None:
    """A process that fails is said with its last line."""
    assert measure("dispatch", tmp_path / "nothing")["missing"].startswith("`dispatch` failed: ")


def test_gate_compares_ratios_only() -> None:
    """Worse by more than a third either way is a regression; figures, missing ratios and small changes are not."""
    earlier = {"10": {"faster": {"figure": 1.0, "ratio": 2.0}, "more": {"figure": 5.0, "ratio": 2.0}}}

    def found(faster: float | None, more: float | None) -> list[str]:
        return [*regressions({10: {FASTER: Result(9.0, faster), MORE: Result(9.0, more)}}, earlier)]

    assert found(2.5, 1.6) == []
    assert found(None, None) == []
    assert found(2.7, 2.0) == ["faster at 10 roles: 2.70× instead of 2.00×"]
    assert found(1.0, 1.5) == ["more at 10 roles: 1.50× instead of 2.00×"]
    assert [*regressions({20: {FASTER: Result(9.0, 99.0)}}, earlier)] == []


def test_growth_is_an_exponent() -> None:
    """Twice the time for a hundred times the roles is 0.15; one size says nothing."""
    results = {1_000: {FASTER: Result(1.0)}, 100_000: {FASTER: Result(2.0)}}
    assert growth(results, "faster") == pytest.approx(0.1505, abs=1e-4)
    assert growth({1_000: {FASTER: Result(1.0)}}, "faster") is None


def test_rows_have_names_of_their_own() -> None:
    """Earlier results are found by name, so no two rows share one; every size leaves some rows."""
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {*rows_for(1_000)} > {*rows_for(100_000)} > set()


@pytest.mark.nightly
def test_command_prints_a_table_and_gates(tmp_path: Path) -> None:
    """One command measures, writes its results, and fails when an earlier ratio was far better."""
    command = [sys.executable, "-m", "benchmarks", "--sizes", "40", "--turns", "1"]
    command += ["--json", str(tmp_path / "now.json")]
    only = [*command, "--only", "bytes, again"]
    done = subprocess.run(only, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "two processes doing the same slow each other down" in done.stdout
    data = json.loads((tmp_path / "now.json").read_text(encoding="utf-8"))
    now = data["40"]["manifest as bytes, again"]
    assert now["ratio"] > 0
    data["40"]["manifest as bytes, again"]["ratio"] = now["ratio"] / 100
    (tmp_path / "earlier.json").write_text(json.dumps(data), encoding="utf-8")
    gated = [*only, "--compare", str(tmp_path / "earlier.json")]
    done = subprocess.run(gated, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("worse: manifest as bytes, again at 40 roles: ")
