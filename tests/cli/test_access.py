"""`can`, `why`, `who-can`, `what-can` and `manifest --agent`: what they print, and what they exit with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.in_process import run_here as run
from tests.support.trees import copy_template

SEND = ("person:partner", "use", "tool:send_email")
GITHUB = ("person:partner", "use", "tool:github")
ALONE = ("--context", '{"peer_kind": "dm"}')


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return copy_template(tmp_path / "home", "household")


def test_a_denial_names_its_line_and_what_would_change_it(home: Path) -> None:
    """Exit 1; a reason for each code, the way out, and who already can. No store is made by asking."""
    done = run("can", *SEND, *ALONE, cwd=home)
    assert done.returncode == 1
    assert done.stdout == (
        "deny: person:partner use tool:send_email\n"
        "  because policy `partner-access` denies tool `send_email`\n"
        "      policies.yaml:85\n"
        "  because no policy and no grant allows person `partner` to use tool `send_email`\n"
        "      directory.yaml:15\n"
        "  would be allowed by: grant `tool:send_email` at level `write` and remove policy `partner-access`\n"
        "      orgkernel grant issue person:partner tool:send_email --level write --org household\n"
        "      policies.yaml:77: write `enabled: false` under `policies.partner-access`\n"
        "  who can: role:steward, agent:butler\n"
    )
    assert not (home / ".orgkernel" / "state.db").exists()


def test_json_has_everything_a_program_needs(home: Path) -> None:
    """`can` without the trace, `why` with it; otherwise the same."""
    short = json.loads(run("can", *SEND, "--format", "json", cwd=home).stdout)
    whole = json.loads(run("why", *SEND, "--format", "json", cwd=home).stdout)
    assert {"outcome", "code", "reasons", "remedies", "obligations", "snapshot"} <= short.keys()
    assert (short["outcome"], short["code"]) == ("deny", "POLICY_DENY")
    assert {**short, "trace": whole["trace"]} == whole
    assert [line["access_layer"] for line in whole["trace"] if line["value"]] == ["policies"]


def test_what_is_stored_counts(home: Path) -> None:
    """A grant opens, its revocation closes, and the outcome is the exit code."""
    assert run("can", *GITHUB, cwd=home).returncode == 1
    issued = run("grant", "issue", "person:partner", "tool:github", "--by", "person:owner", cwd=home)
    assert issued.returncode == 0
    assert run("can", *GITHUB, cwd=home).returncode == 4
    allowed = run("can", *GITHUB, *ALONE, cwd=home)
    assert (allowed.returncode, allowed.stdout.splitlines()[0]) == (
        0,
        "allow: person:partner use tool:github",
    )
    run("grant", "revoke", issued.stdout.split()[0], "--by", "person:owner", cwd=home)
    assert run("can", *GITHUB, cwd=home).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("partner", "use", "tool:x"), "the subject `partner` has no kind"),
        (("person:partner", "use", "x"), "the resource `x` has no kind"),
        ((*SEND, "--context", "{"), "the context is not JSON"),
        ((*SEND, "--context", "[]"), "the context is not a JSON object"),
        ((*SEND, "--context", '{"chanel": "x"}'), "did you mean `channel`?"),
        ((*SEND, "--context", '{"pace": "x"}'), "at `pace`: `x` is not one of the allowed values"),
        ((*SEND, "--context", '{"depth": "1"}'), "at `depth`: expected a whole number, got a string"),
        ((*SEND, "--org", "househole"), "did you mean `household`?"),
    ],
)
def test_what_cannot_be_asked_is_exit_2(home: Path, arguments: tuple[str, ...], message: str) -> None:
    """With what is wrong and what to write instead; nothing on stdout."""
    done = run("can", *arguments, cwd=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_circumstances_change_the_answer(home: Path) -> None:
    """In a group the policy of groups bounds what the owner may do; where that is not stated, the answer depends on it."""
    owner = ("person:owner", "use", "tool:send_email")
    assert run("can", *owner, *ALONE, cwd=home).returncode == 0
    assert run("can", *owner, "--context", '{"peer_kind": ""}', cwd=home).returncode == 0
    open_question = run("can", *owner, cwd=home)
    assert open_question.returncode == 4
    assert open_question.stdout.splitlines()[:4] == [
        "conditional: person:owner use tool:send_email",
        "  because the request does not state `peer_kind`: if `peer_kind` is `group`, policy `group-chat-restrictions` denies tool `send_email`",
        "      policies.yaml:43",
        "  obligations: state:peer_kind",
    ]
    assert run("can", *owner, "--context", '{"peer_kind": "group"}', cwd=home).returncode == 1


def test_on_behalf_of_gives_no_more_than_they_have(home: Path) -> None:
    """The butler may send mail, but not on behalf of a person who may not."""
    butler = ("agent:butler", "use", "tool:send_email")
    assert run("can", *butler, *ALONE, cwd=home).returncode == 0
    done = run("can", *butler, "--on-behalf-of", "person:friend", cwd=home)
    assert done.returncode == 1
    assert "PARENT_CAP" in run("why", *butler, "--on-behalf-of", "person:friend", cwd=home).stdout


def test_lists(home: Path) -> None:
    """`who-can` lists the allowed subjects and `what-can` the allowed resources; an empty list exits with 1."""
    rows = json.loads(
        run(
            "who-can",
            "use",
            "tool:send_email",
            "--kind",
            "role",
            "--kind",
            "agent",
            "--kind",
            "person",
            *ALONE,
            "--format",
            "json",
            cwd=home,
        ).stdout
    )
    assert [row["subject"] for row in rows if row["outcome"] == "allow"] == [
        "role:steward", "agent:butler", "person:owner", "person:user",
    ]  # fmt: skip
    done = run("what-can", "role:record_keeper", "--kind", "tool", cwd=home)
    assert done.returncode == 0
    assert "tool:write_file" in done.stdout
    nobody = run("who-can", "use", "tool:browser_agent", "--kind", "role", cwd=home)
    assert (nobody.returncode, nobody.stdout, nobody.stderr) == (1, "", "no subject is allowed to do this\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("who-can", "use", "tool:githb"), "no subject is allowed to do this: tool `githb` is not declared; did you mean `github`?"),
        (("who-can", "drive", "tool:github"), "no subject is allowed to do this: tool `github` has no action `drive`; it has `use`"),
        (("what-can", "person:partnr"), "this subject is not allowed to do anything: `person:partnr` is not declared; did you mean `partner`?"),
        (("what-can", "persn:partner"), "this subject is not allowed to do anything: `persn:partner` is not declared; did you mean `person`?"),
        (("what-can", "person:neighbor", "--kind", "role"), "this subject is not allowed to do anything"),
    ],
)  # fmt: skip
def test_an_empty_list_says_whether_the_name_is_known(
    home: Path, arguments: tuple[str, ...], said: str
) -> None:
    """A misspelt name is no answer about rights."""
    done = run(*arguments, cwd=home)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{said}\n")


def test_the_manifest_of_an_agent(home: Path) -> None:
    """All its roles together; a role and an agent at once is one too many."""
    found = json.loads(
        run("manifest", "--agent", "butler", "--org", "household", "--format", "json", cwd=home).stdout
    )
    assert (found["manifest_of"], [role["id"] for role in found["roles"]]) == (
        "agent",
        ["steward", "errand_runner"],
    )
    assert run("manifest", "--agent", "butler", "--org", "household", cwd=home).stdout.startswith(
        "Butler (butler), commander"
    )
    both = run("manifest", "steward", "--agent", "butler", "--org", "household", cwd=home)
    assert both.returncode == 2
    unknown = run("manifest", "--agent", "buttler", "--org", "household", cwd=home)
    assert "did you mean `butler`?" in unknown.stderr


def test_diff_judges_a_directory_that_differs(home: Path, tmp_path: Path) -> None:
    """Who is whom is judged by the policies that match; the same directory elsewhere makes no difference."""
    other = copy_template(tmp_path / "other", "household")
    assert run("diff", str(home), str(other), cwd=tmp_path).stdout.startswith("no change")
    directory = next(
        path for path in other.glob("*.yaml") if "orgkernel:directory" in path.read_text("utf-8")
    )
    text = directory.read_text(encoding="utf-8")
    assert "relationship: friend" in text
    directory.write_text(text.replace("relationship: friend", "relationship: family", 1), encoding="utf-8")
    said = " ".join(run("diff", str(home), str(other), cwd=tmp_path).stdout.split())
    assert "person `friend`: `relationship` is `family` instead of `friend`" in said
    assert "- person:friend may no longer use `weather`" in said or "person:friend may no" in said


def test_diff_calls_an_escalation_widened(home: Path, tmp_path: Path) -> None:
    """A policy that denies less, and one that goes which denied; the other way round is narrowed."""
    other = copy_template(tmp_path / "other", "household")
    policies = other / "policies.yaml"
    text = policies.read_text(encoding="utf-8")
    policies.write_text(
        text.replace("deny: [shell, send_email, read_messages, credentials_*]", "deny: [shell]"),
        encoding="utf-8",
    )
    for trees, effect in (((home, other), "widened"), ((other, home), "narrowed")):
        found = json.loads(run("diff", *map(str, trees), "--format", "json", cwd=tmp_path).stdout)
        changes = found["changes"] if isinstance(found, dict) else found
        about = [each for each in changes if each["path"][0] == "policies"]
        assert about
        assert {each["classification"] for each in about} == {effect}


def test_diff_flags_what_a_policy_denies_no_longer_although_it_denies_something_else(
    home: Path, tmp_path: Path
) -> None:
    """A widened permission is reported even if another one is narrowed; each circumstance is reported with its tool."""
    other = copy_template(tmp_path / "other", "household")
    policies = other / "policies.yaml"
    text = policies.read_text(encoding="utf-8")
    denied = text.replace(
        "deny: [shell, send_email, read_messages, credentials_*]",
        "deny: [smart_home, send_email, read_messages, credentials_*]",
        1,
    )
    policies.write_text(denied, encoding="utf-8")
    done = run("diff", str(home), str(other), "--format", "json", cwd=tmp_path)
    told = {(each["sentence"], each["classification"]) for each in json.loads(done.stdout)["changes"]}
    assert told == {
        ("household: policy group-chat-restrictions no longer denies tool:shell", "widened"),
        ("household: policy group-chat-restrictions now denies tool:smart_home", "narrowed"),
    }
    policies.write_text(text.replace("    ceiling: true\n", "", 1), encoding="utf-8")
    done = run("diff", str(home), str(other), "--format", "github", cwd=tmp_path)
    assert done.stdout.startswith(
        "::warning file=other/policies.yaml,line=33,title=orgkernel diff%3A widened::"
    )
    assert "errand_runner and agent:butler may now use `jira` with peer kind `group`" in done.stdout


def test_the_envelope_of_a_sender(home: Path) -> None:
    """Who a channel identity is, where its messages go, what it gets, and by which policies."""
    slack = (
        "--context",
        '{"channel": "slack", "account": "company", "peer_kind": "dm", "now": 43200, "utc_offset": 0}',
    )
    asked = ("what-can", "sender:slack/company/U-COLLEAGUE", "--envelope", *slack)
    assert run(*asked, cwd=home).stdout.splitlines() == [
        "subject       person:colleague",
        "session       work",
        "persona       none",
        "queue         none",
        "tools         web_search, calendar_read, read_file, write_file, github, jira",
        "credentials   github, jira, slack",
        "data          contextual",
        "policies      work-slack-context, work-contacts",
        "denying       work-contacts",
    ]
    found = json.loads(run(*asked, "--format", "json", cwd=home).stdout)
    assert (found["routing"]["session_key"], found["data"]) == ("work", "contextual")
    assert run(*asked, "--via", "role:steward", cwd=home).returncode == 2
