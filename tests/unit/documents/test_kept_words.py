"""What a model puts in our own words is kept in them."""

from __future__ import annotations

from orgkernel.documents.records import AccessPolicies
from orgkernel.loading.tree import read_tree
from orgkernel.snapshots.roots import resolve_paths

POLICIES = """\
_schema: orgkernel:access_policies
policies:
  at_work:
    effect: allow
    match:
      conditions: [{platform: slack, container_kind: direct, space_id: acme}]
    permissions: {data: restricted}
suppressions:
  - {rule: ORG404, reason: "  for the test  "}
"""


def test_other_words_for_fields_and_values_reach_the_record(tmp_path) -> None:
    """`platform`, `container_kind`, `space_id` and `restricted` are read as what they are called here."""
    (tmp_path / "policies.yaml").write_text(POLICIES)
    documents = read_tree(resolve_paths([str(tmp_path)], str(tmp_path)).roots).documents
    record = next(each.record for each in documents if isinstance(each.record, AccessPolicies))
    policy = record.policies["at_work"]
    condition = policy.match.conditions[0]
    assert (condition.channel, condition.peer_kind, condition.guild) == ("slack", "dm", "acme")
    assert policy.permissions.data == "contextual"
    assert record.suppressions[0].reason == "for the test"
