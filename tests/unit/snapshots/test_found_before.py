"""What was found in a profile is taken over while it counts as it is written, and looked for again once it does not."""

from pathlib import Path

from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.trees import write_tree

ORG = "_schema: orgkernel:organization\norg_id: demo\nhierarchy: {a: {}}\n"
OVERRIDE = "overrides: {a: {doctrine: {max_turns_without_progress: 3}}}\n"
PROFILE = """\
_schema: orgkernel:role_profile
role_id: a
role_type: executive
description: Leads.
pace_plan:
  alternate: {trigger: turns_since_progress >= max OR turns_since_progress >= 5, action: fallback_chain}
  contingent: {trigger: turns_since_progress >= 4, action: escalate}
"""


def test_a_profile_is_checked_again_once_it_is_overridden_or_shared(tmp_path: Path) -> None:
    """Its own file stays as it is; what else is there decides whether its tiers are in order."""

    def found(**files: str) -> list[tuple[str, str, int]]:
        write_tree(tmp_path, {f"{name}.yaml": text for name, text in files.items()})
        snapshot = loader.load()
        return [(each.code, each.place.file, each.place.line) for each in snapshot.diagnostics]

    loader = Loader(resolve_paths([str(tmp_path)], str(tmp_path)), {})
    as_written = found(org=ORG, a=PROFILE)
    assert ("ORG505", "a.yaml", 7) in as_written
    overridden = found(org=ORG + OVERRIDE)
    assert ("ORG505", "a.yaml", 7) not in overridden
    assert found(org=ORG) == as_written
    fresh = Loader(loader.request, {})
    found(other=ORG.replace("demo", "other"), org=ORG + OVERRIDE)
    assert loader.load().diagnostics == fresh.load().diagnostics
