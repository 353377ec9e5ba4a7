"""schemathesis against the running server: whatever it thinks of, the answer is one of those documented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from manifest_api import build_openapi
from tests.api.keys import first_key, location_of
from tests.api.running import Server, running
from tests.support.depth import DEPTH
from tests.support.trees import TEMPLATES

# 414 and 413 are refusals too: what is generated at random is sometimes longer than the guards let through.
REFUSALS = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422"]
# A report is read leniently, what is null was not reported; and a schema cannot say that a text is a moment.
LENIENT = {
    "include-path": "/v1/salute", "include-method": "POST",
    "checks": {"negative_data_rejection": {"enabled": False}, "positive_data_acceptance": {"enabled": False}},
}  # fmt: skip
CONFIG = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}, "operations": [LENIENT]}
)
# The document itself; that the running server serves it is tested in test_openapi.
# The stream has no end to wait for; test_following has it.
schema = schemathesis.openapi.from_dict(build_openapi(), config=CONFIG).exclude(path="/v1/salute/stream")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over one organization, which is therefore the active one, with a key that opens everything."""
    folder = tmp_path_factory.mktemp("schemathesis")
    store = folder / "state.db"
    secret = first_key(location_of(store))
    with running(folder, TEMPLATES / "household", store=store) as found:
        found.key = secret
        yield found


@schema.parametrize()
@settings(
    max_examples=5 if DEPTH == 1 else 8,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_operation(case: Any, server: Server) -> None:
    """Valid requests are accepted, invalid ones refused, and every answer is documented and fits its schema."""
    case.call_and_validate(base_url=server.url, timeout=30, headers={"Authorization": f"Bearer {server.key}"})
