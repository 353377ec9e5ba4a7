"""schemathesis against the running server: whatever it thinks of, the answer is one of those documented."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.pytest.lazy import get_all_tests

from tests.api.keys import first_key, location_of
from tests.api.running import Server, running
from tests.support.depth import DEPTH
from tests.support.openapi_document import get_openapi
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

# 414 and 413 are refusals too: what is generated at random is sometimes longer than the guards let through.
REFUSALS = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422"]
# A report is read leniently, what is null was not reported; and a schema cannot say that a text is a moment.
LENIENT = {
    "include-path": "/v1/orgs/{org}/salute", "include-method": "POST",
    "checks": {"negative_data_rejection": {"enabled": False}, "positive_data_acceptance": {"enabled": False}},
}  # fmt: skip
CONFIG = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}, "operations": [LENIENT]}
)
# The stream has no end to wait for; test_following has it.
PATHS = sorted(
    path
    for file in (Path(__file__).parents[1] / "golden/openapi").glob("*.json")
    for path in json.loads(file.read_text(encoding="utf-8"))
    if path.startswith("/") and path != "/v1/orgs/{org}/salute/stream"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over one organization, which is therefore the active one, with a key that opens everything."""
    folder = tmp_path_factory.mktemp("schemathesis")
    store = folder / "state.db"
    secret = first_key(location_of(store))
    with running(folder, TEMPLATES / "household", store=store) as found:
        found.key = secret
        yield found


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document itself; that the running server serves it is tested in test_openapi."""
    return get_openapi()


def test_every_path_is_tested(document: dict[str, Any]) -> None:
    """But for the stream."""
    assert document["paths"].keys() - set(PATHS) == {"/v1/orgs/{org}/salute/stream"}


SETTINGS = settings(
    max_examples=3 if DEPTH == 1 else 8 * DEPTH,
    derandomize=DEPTH == 1,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def call(case: Any, server: Server) -> None:
    """One request, of which everything is checked."""
    case.call_and_validate(
        base_url=server.url, timeout=PATIENCE, headers={"Authorization": f"Bearer {server.key}"}
    )


@pytest.mark.deep
@pytest.mark.parametrize("path", PATHS)
def test_every_operation(document: dict[str, Any], path: str, server: Server) -> None:
    """Valid requests are accepted, invalid ones refused, and every answer is documented and fits its schema."""
    paths = {path: document["paths"][path]}
    schema = schemathesis.openapi.from_dict({**document, "paths": paths}, config=CONFIG)
    # `schema.parametrize` makes the cases of all paths where tests are collected, in every process.
    for made in get_all_tests(schema=schema, test_func=call, settings=SETTINGS, given_kwargs=None):
        test = made.ok()[1]
        # The cases at the edges of a schema are thousands: every eighth one, and all of them at night.
        if DEPTH == 1:
            test.hypothesis_explicit_examples = test.hypothesis_explicit_examples[::8]
        test(server=server)
