"""A secret of a request is overwritten in the answer, and nothing else of the answer is."""

from __future__ import annotations

from starlette.testclient import TestClient

from orgkernel.state.location import StoreLocation
from tests.api.keys import bearer, first_key

KEY = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
PEM = (
    "-----BEGIN PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh\n" * 2
)


def test_a_repeated_secret_is_overwritten(local: TestClient) -> None:
    """In pieces of a body, escaped, of several lines, behind its key, and in a path; the length is right."""
    explain = {"subject": KEY, "action": "use", "resource": "tool:github"}
    answer = local.post("/v1/orgs/household/why", json=explain)
    assert "[a GitHub token, masked]" in answer.text
    assert KEY[4:] not in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    said = local.post("/v1/commands/check", json={"command": f"print '{PEM}'"}).text
    assert "0123456789abcdefghij" not in said
    piece = ('{"command": "frobnicate ghp_01234567', '89abcdefghijABCDEFGHIJ012345 a"}')
    said = local.post(
        "/v1/commands/check",
        content=(each.encode() for each in piece),
        headers={"content-type": "application/json"},
    ).text
    assert "[a GitHub token, masked]" in said
    assert KEY[8:20] not in said
    assert KEY[4:] not in local.get(f"/v1/orgs/household/skills?subject={KEY}").text


def test_what_stands_beside_a_secret_is_no_part_of_it(local: TestClient) -> None:
    """A segment in the middle of a path, and a value in the middle of a query."""
    assigned = "d8cf13628286d84a44d7987e568c46ba"
    path = f"/v1/orgs/household/skills/api_key:%20{assigned}/resources/a"
    assert assigned not in local.get(f"{path}?subject=agent:clerk").text
    query = f"subject=api_key:%20{assigned}&resource=tool:github&action=use"
    assert assigned not in local.get(f"/v1/orgs/household/skills?{query}").text


def test_the_rest_of_an_answer_stays(local: TestClient, store: StoreLocation) -> None:
    """Ids of what is declared stay, also where the request names them; and what a request only seems to hold."""
    admin = bearer(first_key(store))
    asked = {
        "requester": "agent:clerk",
        "resources": ["tool:github"],
        "reason": f"with {KEY}",
    }
    told = local.post("/v1/orgs/household/requests", json=asked, headers=admin).json()
    assert (told["requester"], told["resources"]) == ("agent:clerk", ["tool:github"])
    assert told["reason"] == "with [a GitHub token, masked]"
    digest = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
    assert digest in local.post("/v1/commands/check", json={"command": f"frobnicate {digest}"}).text
