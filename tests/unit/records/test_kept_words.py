"""What a model puts in our own words is kept in them, and what is kept as written needs no such words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, PlainValidator, WrapValidator

from orgkernel.loading.documents import _KEPT_AS_WRITTEN
from orgkernel.loading.tree import read_tree
from orgkernel.model.kinds import KINDS
from orgkernel.records.access_policies import AccessPolicies
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


def test_kinds_kept_as_written_have_no_other_words() -> None:
    """No field of theirs has a second name or a validator that changes a value; suppressions are looked at apart."""
    changing = (BeforeValidator, AfterValidator, PlainValidator, WrapValidator)
    for kind in _KEPT_AS_WRITTEN:
        for name, field in fields_below(KINDS[kind]):
            assert isinstance(field.validation_alias, str | None), name
            assert not any(isinstance(each, changing) for each in field.metadata), name


def fields_below(part: Any) -> Iterator[tuple[str, Any]]:
    """Every field of a model and of the models it is made of, but for suppressions."""
    if isinstance(part, type) and issubclass(part, BaseModel):
        for name, field in part.model_fields.items():
            if name != "suppressions":
                yield f"{part.__name__}.{name}", field
                yield from fields_below(field.annotation)
    elif not isinstance(part, type) or issubclass(part, msgspec.Struct):
        for each in get_args(part):
            yield from fields_below(each)
