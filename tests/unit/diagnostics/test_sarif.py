"""SARIF, held against the models generated from the OASIS schema; GitHub's own rules are held by `.ci/sarif`."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest
from hypothesis import given
from pydantic import ValidationError
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifSchema

from orgkernel.diagnostics import Diagnostic, Place, Related, Severity
from orgkernel.diagnostics.formats.sarif import render_sarif
from orgkernel.diagnostics.wording import clean
from orgkernel.rules.pages import build_all_pages
from tests.support.findings import TOKEN, a_finding, no_lines, several

PAGES = tuple(page for page in build_all_pages().values() if page.code <= "ORG202")


def render(found, lines=no_lines, pages=PAGES):
    return json.loads(render_sarif(found, pages, "0.1.0", lines))


@given(several)
def test_it_is_sarif_whatever_a_finding_says(found):
    """The schema holds, strictly, and so does what it cannot say."""
    text = render_sarif(found, PAGES, "0.1.0", no_lines)
    SarifSchema.model_validate_json(text, strict=True)
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == len(found)
    fingerprints = [next(iter(result["partialFingerprints"].values())) for result in run["results"]]
    assert len(set(fingerprints)) == len(found)
    for result, each in zip(run["results"], found, strict=True):
        if "ruleIndex" in result:
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == each.code
        else:
            assert each.code not in {page.code for page in PAGES}
        assert "](" not in result["message"]["text"]
        assert TOKEN not in json.dumps(result)
        assert len(result.get("relatedLocations", ())) == len(each.related)
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        if "uriBaseId" in artifact:
            assert unquote(artifact["uri"]) == clean(each.place.file)
            assert artifact["uriBaseId"] in run["originalUriBaseIds"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0].update(color="red"),
        lambda run: run["results"][0].pop("message"),
        lambda run: run["results"][0].update(ruleIndex="1"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda run: run.update(columnKind="characters"),
        lambda run: run["tool"]["driver"].pop("name"),
    ],
)
def test_the_referee_sees_mistakes(spoil):
    """A schema that lets everything through would prove nothing."""
    log = render([a_finding()])
    SarifSchema.model_validate_json(json.dumps(log), strict=True)
    spoil(log["runs"][0])
    with pytest.raises(ValidationError):
        SarifSchema.model_validate_json(json.dumps(log), strict=True)


def test_the_exact_result():
    """Severity to level, place with its end, the other place that explains it."""
    found = Diagnostic(
        Place("roles/día one.yaml", 1, 15),
        "ORG202",
        "unknown-superior",
        Severity.INFO,
        "role `dev` reports to `enginering_xo`",
        "did you mean `engineering_xo`?",
        "role:dev",
        (Related(Place("/elsewhere/org.yaml", 3, 1), "declared here"),),
    )
    log = render([found], lambda name: ["  reports_to: enginering_xo"] if "one" in name else [])
    (result,) = log["runs"][0]["results"]
    assert result.pop("partialFingerprints").keys() == {"orgkernelFinding/v1"}
    assert result.pop("ruleIndex") == 0
    assert result == {
        "ruleId": "ORG202",
        "level": "note",
        "message": {"text": "role `dev` reports to `enginering_xo` (did you mean `engineering_xo`?)"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "roles/d%C3%ADa%20one.yaml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 1, "startColumn": 15, "endLine": 1, "endColumn": 28},
                }
            }
        ],
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": {"uri": "file:///elsewhere/org.yaml"},
                    "region": {"startLine": 3, "startColumn": 1},
                },
                "message": {"text": "declared here"},
            }
        ],
        "properties": {"subject": "role:dev"},
    }


def test_only_the_rules_of_the_findings_are_listed():
    """A report lists each rule that fired once, in the order of the codes, and no other rule."""
    pages = tuple(build_all_pages().values())
    for codes in ((), ("ORG301",), ("ORG702", "ORG301", "ORG702")):
        (run,) = render([a_finding(code=code) for code in codes], pages=pages)["runs"]
        assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == sorted(set(codes))
        for result, code in zip(run["results"], codes, strict=True):
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == code


def test_rules_bring_their_pages_and_stay_within_githubs_limits():
    """A rule has the text of its page, because there is not an address to link to."""
    log = render(
        [a_finding(code=code) for code in build_all_pages()], pages=tuple(build_all_pages().values())
    )
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(build_all_pages())
    for rule in rules:
        page = build_all_pages()[rule["id"]]
        assert rule["help"]["markdown"] == page.text
        assert rule["fullDescription"]["text"] == page.summary
        assert len(rule["name"]) <= 255
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["shortDescription"]["text"]) <= 1024
    assert "http" not in json.dumps(run["tool"]["driver"])


def test_two_findings_change_places_without_changing_who_they_are():
    """Moving lines keeps every partial fingerprint."""
    one, two = a_finding(line=1), a_finding(line=2, message="role `dev` handles `osnt`")
    before = {
        result["message"]["text"]: result["partialFingerprints"]
        for result in render([one, two])["runs"][0]["results"]
    }
    moved = [a_finding(line=7, message=two.message), a_finding(line=9)]
    after = {
        result["message"]["text"]: result["partialFingerprints"]
        for result in render(moved)["runs"][0]["results"]
    }
    assert before == after
