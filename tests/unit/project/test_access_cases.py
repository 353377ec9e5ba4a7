"""Decision cases about access: what is wrong is said, at the line that expects otherwise."""

from __future__ import annotations

from pathlib import Path

from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.project.cases import run_cases
from tests.support.trees import write_tree

CASES = """\
_schema: orgkernel:decision_cases
cases:
  - name: wrong in every field
    org: household
    given: {grants: {g: {subject: "role:errand_runner", resources: ["tool:jira"], expires: "1970-01-02 00:00"}}}
    access:
      - ask: {subject: role:steward, action: use, resource: tool:smart_home, context: {peer_kind: dm}}
        outcome: deny
      - ask: {subject: role:errand_runner, action: use, resource: tool:jira, context: {peer_kind: dm}}
        outcome: allow
        because: [BOUND_TO_ROLE]
        level: read
        obligations: []
        remedies: [nothing]
      - ask: {subject: role:steward, action: use, resource: tool:jira, context: {at: 1970-13-01 10:00}}
        outcome: deny
    who_can:
      - action: use
        resource: tool:jira
        context: {peer_kind: dm}
        are: [role:steward]
    what_can:
      - subject: role:errand_runner
        context: {peer_kind: dm}
        can: {tool:jira: [use]}
  - name: nothing asked
    org: household
  - name: nobody there
    org: nowhere
    who_can: [{action: use, resource: tool:jira, are: []}]
"""


def test_each_wrong_expectation_is_told_at_its_line(tmp_path: Path) -> None:
    """Outcome, reasons, level, remedies and lists; a date no calendar has, an empty case, an unknown organization."""
    folder = write_tree(tmp_path, {"cases.yaml": CASES})
    (document,) = read_tree([Root(str(folder), "")]).documents
    results = list(run_cases(Kernel.open(), [document]))
    told = [
        (failure.place.line, failure.message.rpartition("in household: ")[2])
        for result in results
        for failure in result.failures
    ]
    lines = CASES.split("\n")
    assert [
        (lines[line - 1].strip().split(":")[0].removeprefix("- "), message) for line, message in told
    ] == [
        (
            "outcome",
            "the outcome is `allow`, not `deny`, because role steward is equipped with tool smart_home",
        ),
        ("because", "the reasons are [BOUND_TO_ROLE, GRANTED], not [BOUND_TO_ROLE]"),
        (
            "obligations",
            "the obligations are [without_credential:jira], not []",
        ),
        ("remedies", "the remedies are [], not [nothing]"),
        ("level", "the level is `full`, not `read`"),
        ("ask", "month must be in 1..12"),
        ("are", "the subjects are [role:errand_runner], not [role:steward]"),
        (
            "can",
            "the permissions are {tool:github: [use], tool:jira: [use], tool:response: [use], tool:weather: [use], "
            "tool:web_search: [use]}, not {tool:jira: [use]}",
        ),
        ("name", "case `nothing asked` has no question"),
        ("org", "case `nobody there` names organization `nowhere`, which is not declared"),
    ]
    assert [result.question for result in results][:2] == [
        "role:steward use tool:smart_home in household",
        "role:errand_runner use tool:jira in household",
    ]
