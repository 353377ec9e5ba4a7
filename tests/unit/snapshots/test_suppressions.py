"""What a suppression silences, and what is said about one that matches no finding."""

from pathlib import Path

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.trees import read, write_tree

ORG = '{_schema: "orgkernel:organization", org_id: demo, hierarchy: {a: {}, b: {}}}'


def profile(role_id: str, suppressions: str = "[]", superior: str = "nobody") -> str:
    """A profile whose superior is declared nowhere (ORG202, an error) and that has no description (ORG702)."""
    role_type = "executive" if role_id == "a" else "specialist"
    return (
        f"_schema: orgkernel:role_profile\nrole_id: {role_id}\nrole_type: {role_type}\n"
        f"chain_of_command: {{reports_to: {superior}}}\nsuppressions: {suppressions}\n"
    )


def read_files(folder: Path, **roles: str) -> Snapshot:
    files = {f"roles/{role_id}.yaml": text for role_id, text in roles.items()}
    return read(write_tree(folder, {"org.yaml": ORG, **files}))


def about(snapshot: Snapshot, *codes: str) -> list[tuple[str, str]]:
    return [(found.code, found.subject) for found in snapshot.diagnostics if found.code in codes]


def errors(snapshot: Snapshot) -> list[Diagnostic]:
    return [found for found in snapshot.diagnostics if found.severity is Severity.ERROR]


def test_a_suppression_silences_its_finding_and_no_other(tmp_path):
    """Findings of another rule in the document, and of the same rule in another document, stay."""
    snapshot = read_files(
        tmp_path, a=profile("a", "[{rule: ORG202, reason: hired next week}]"), b=profile("b")
    )
    assert about(snapshot, "ORG202", "ORG702", "ORG705") == [
        ("ORG702", "role:a"),
        ("ORG702", "role:b"),
        ("ORG202", "role:b"),
    ]


def test_a_suppression_with_a_subject_silences_only_findings_about_it(tmp_path):
    """Two profiles in one file: the suppression of the first names the second."""
    a = profile("a", '[{rule: ORG202, reason: hired next week, subject: "role:b"}]')
    snapshot = read(write_tree(tmp_path, {"org.yaml": ORG, "roles.yaml": f"{a}---\n{profile('b')}"}))
    assert about(snapshot, "ORG202", "ORG705") == [("ORG202", "role:a")]


def test_a_suppression_with_another_subject_silences_nothing_and_is_reported(tmp_path):
    """The finding stays, and so does the word that the suppression is unused."""
    a = profile("a", '[{rule: ORG202, reason: hired next week, subject: "role:b"}]')
    snapshot = read_files(tmp_path, a=a, b=profile("b", superior="a"))
    assert about(snapshot, "ORG202", "ORG705") == [("ORG202", "role:a"), ("ORG705", "rule:ORG202")]


def test_a_suppression_of_a_shape_warning_works_like_any_other(tmp_path):
    """Findings of reading, such as an unknown field, can be suppressed too, not only findings of rules."""
    a = profile("a", "[{rule: ORG102, reason: another program reads it}]") + "color: green\n"
    assert about(read_files(tmp_path, a=a, b=profile("b")), "ORG102", "ORG705") == []


def test_a_suppression_needs_a_reason(tmp_path):
    """Without one, or with an empty one, the document does not fit its shape and matches no finding."""
    snapshot = read_files(
        tmp_path, a=profile("a", "[{rule: ORG202}]"), b=profile("b", "[{rule: ORG202, reason: ' '}]")
    )
    assert [(found.place.file, found.message) for found in errors(snapshot)] == [
        ("roles/a.yaml", "the field `suppressions[0].reason` is missing"),
        ("roles/b.yaml", "`suppressions[0].reason` has the wrong length; it must have at least 1 character"),
    ]


def test_an_unused_suppression_is_reported_where_it_is_written(tmp_path):
    """One warning, at the code that matches no finding."""
    a = profile("a", "[{rule: ORG201, reason: it was once needed}]")
    found = [
        found for found in read_files(tmp_path, a=a, b=profile("b")).diagnostics if found.code == "ORG705"
    ]
    assert [(str(each.place), each.severity) for each in found] == [("roles/a.yaml:5:23", Severity.WARNING)]


def test_an_unused_suppression_can_be_accepted(tmp_path):
    """A suppression of ORG705 silences it, for one code or for all."""
    unused = "{rule: ORG506, reason: only one of two organizations needs it}"
    a = profile("a", f"[{unused}, {{rule: ORG705, reason: see above}}]")
    b = profile("b", f'[{unused}, {{rule: ORG705, reason: see above, subject: "rule:ORG506"}}]')
    assert about(read_files(tmp_path, a=a, b=b), "ORG705") == []


def test_an_acceptance_of_another_code_changes_nothing(tmp_path):
    """Both the unused suppression and the one that was to accept another are reported."""
    a = profile("a", '[{rule: ORG506, reason: x}, {rule: ORG705, reason: y, subject: "rule:ORG507"}]')
    assert about(read_files(tmp_path, a=a, b=profile("b")), "ORG705") == [
        ("ORG705", "rule:ORG506"),
        ("ORG705", "rule:ORG705"),
    ]


def test_a_suppressed_error_does_not_fail_the_check(tmp_path):
    """Nothing at or above error is reported, and the organization is served."""
    accepted = "[{rule: ORG202, reason: hired next week}]"
    suppressed = read_files(tmp_path / "accepted", a=profile("a", accepted), b=profile("b", superior="a"))
    plain = read_files(tmp_path / "plain", a=profile("a"), b=profile("b", superior="a"))
    assert [found.code for found in errors(plain)] == ["ORG202"]
    assert plain.organizations["demo"].has_errors
    assert errors(suppressed) == []
    assert not suppressed.organizations["demo"].has_errors
