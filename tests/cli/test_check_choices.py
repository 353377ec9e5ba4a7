"""`check` as a linter: which rules are reported, how often, and how much of one kind is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel.project.corrections import avoid_repetitions
from orgkernel.project.edits.spans import Edit, apply_edits
from tests.support.claude_trees import agent
from tests.support.in_process import run_here
from tests.support.trees import write_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Nine agents with every tool by omission, one with a misspelled tool, and one without a name."""
    files = {
        f".claude/agents/a{number}.md": f"---\nname: a{number}\ndescription: Does part {number}. Use it for {number}.\n---\nDo it.\n"
        for number in range(9)
    }
    files[".claude/agents/b.md"] = (
        "---\nname: b\ndescription: Reviews. Use it first.\ntools: Read, Greb\n---\nDo it.\n"
    )
    files[".claude/agents/c.md"] = "---\ndescription: Reviews. Use it first.\ntools: Read\n---\nDo it.\n"
    return write_tree(tmp_path, files)


def list_codes(tree: Path, *words: str) -> list[str]:
    """The codes that are reported, sorted."""
    done = run_here("check", "--format", "json", *words, cwd=tree)
    return sorted({each["code"] for each in json.loads(done.stdout)})


@pytest.mark.parametrize(
    ("words", "codes", "code"),
    [
        ((), ["ORG101", "ORG750", "ORG752"], 1),
        (("--select", "ORG75"), ["ORG750", "ORG752"], 0),
        (("--select", "ORG750,ORG101"), ["ORG101", "ORG750"], 1),
        (("--select", "ORG750", "--select", "unknown-agent-tool"), ["ORG750", "ORG752"], 0),
        (("--select", "org7", "--ignore", "ORG750"), ["ORG752"], 0),
        (("--ignore", "ORG1"), ["ORG750", "ORG752"], 0),
        (("--ignore", "ORG1", "--fail-on", "warning"), ["ORG750", "ORG752"], 1),
    ],
)
def test_rules_are_chosen(tree: Path, words: tuple[str, ...], codes: list[str], code: int) -> None:
    """By code, beginning or name; the exit code follows from what is reported."""
    assert list_codes(tree, *words) == codes
    assert run_here("check", *words, cwd=tree).returncode == code


def test_an_ignored_error_opens_nothing(tree: Path) -> None:
    """What is not reported still takes its agent out of service."""
    assert run_here("check", "--ignore", "ORG101", cwd=tree).returncode == 0
    assert run_here("can", "role:c", "use", "tool:Read", cwd=tree).stdout.startswith("deny")


def test_the_summary_tells_what_is_not_reported(tree: Path) -> None:
    """So that a limited check never looks like a clean one."""
    done = run_here("check", "--select", "ORG704", cwd=tree)
    assert done.stderr.endswith("; 11 findings of other rules\n")
    assert done.stderr.splitlines()[-1].startswith("no findings in ")


@pytest.mark.parametrize(
    ("word", "help"),
    [
        ("ORG759X", "there is no rule `ORG759X`; did you mean `ORG759`?"),
        ("unknwn-agent-tool", "did you mean `unknown-agent-tool`?"),
        ("nonsense", "`orgkernel rule` lists them"),
    ],
)
def test_an_unknown_rule_is_an_error(tree: Path, word: str, help: str) -> None:
    """A misspelled code must not look like a clean tree."""
    done = run_here("check", "--select", word, cwd=tree)
    assert (done.returncode, done.stdout) == (2, "")
    assert help in done.stderr


def test_statistics(tree: Path) -> None:
    """Most findings first; as JSON too."""
    done = run_here("check", "--statistics", cwd=tree)
    assert done.stdout == (
        "9  info     ORG750  every-tool-by-omission\n"
        "1  error    ORG101  missing-field\n"
        "1  warning  ORG752  unknown-agent-tool\n"
    )
    rows = json.loads(run_here("check", "--statistics", "--format", "json", cwd=tree).stdout)
    assert rows[0] == {"code": "ORG750", "name": "every-tool-by-omission", "severity": "info", "count": 9}
    assert run_here("check", "--statistics", "--format", "sarif", cwd=tree).returncode == 2


def test_much_information_of_one_kind_is_told_once(tree: Path) -> None:
    """The first one, and how to list the others. Errors and warnings, and other formats, are complete."""
    done = run_here("check", cwd=tree)
    assert done.stdout.count("[ORG750]") == 1
    assert "note: 8 more ORG750: `orgkernel check --select ORG750` lists them\n" in done.stderr
    assert run_here("check", "--select", "ORG750", cwd=tree).stdout.count("[ORG750]") == 9
    assert run_here("check", "--format", "concise", cwd=tree).stdout.count("[ORG750]") == 9
    assert done.stderr.endswith("1 error, 1 warning, 9 info in 1 organization, 10 roles, 11 files\n")


def test_a_baseline_is_always_complete(tree: Path) -> None:
    """A baseline of some rules would allow the others without a word."""
    done = run_here("check", "--write-baseline", "base.json", "--select", "ORG7", cwd=tree)
    assert done.returncode == 2
    assert not (tree / "base.json").exists()


def write_agent(tree: Path, tools: str, more: str = "") -> Path:
    """An agent with these tools."""
    text = f"---\nname: b\ndescription: Reviews. Use it first.\ntools: {tools}\n{more}---\nUse `Greb`, not `grep`.\n"
    write_tree(tree, {".claude/agents/b.md": text})
    return tree / ".claude/agents/b.md"


def test_a_certain_misspelling_is_corrected(tmp_path: Path) -> None:
    """The diff comes first; the layout stays; what is uncertain stays; the second run finds nothing."""
    file = write_agent(tmp_path, "Read,  Greb, Gerp, Nonsense", "modle: sonnet # fast\n")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    before = file.read_bytes()
    done = run_here("check", "--diff", cwd=tmp_path)
    assert (done.returncode, file.read_bytes()) == (1, before)
    assert "\n+tools: Read,  Grep, Nonsense" in done.stdout
    assert done.stderr == "note: would correct 3 findings in 1 file\n"
    done = run_here("check", "--fix", "--format", "concise", cwd=tmp_path)
    expected = before.replace(b"Greb, Gerp", b"Grep").replace(b"modle", b"model")
    assert (done.returncode, file.read_bytes()) == (0, expected)
    assert "note: corrected 3 findings in 1 file\n" in done.stderr
    assert "Nonsense" in done.stdout
    done = run_here("check", "--fix", cwd=tmp_path)
    assert "note: nothing to correct\n" in done.stderr
    assert file.read_bytes() == expected
    assert run_here("check", "--diff", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        ("tools: Read, Raed", "tools: Read"),
        ("tools: Raed, Reda, Read, Bash", "tools: Read, Bash"),
        ("tools: [Raed, 'Read', \"Gerp\"]", "tools: ['Read', \"Grep\"]"),
        ("tools:\n  - Read\n  - Raed\n  - Gerp", "tools:\n  - Read\n  - Grep"),
        ("tools:\n- 'Raed'\n- Gerp # text\n- Grep\n- Read", "tools:\n- Gerp # text\n- Grep\n- Read"),
        ("model: opus\nmodle: opus", "model: opus\nmodle: opus"),
    ],
)
def test_a_correction_repeats_no_name(tmp_path: Path, written: str, corrected: str) -> None:
    """The misspelled word is removed if its list has the name; a comment and a key with a value of its own stay."""
    write_tree(
        tmp_path, {".claude/agents/b.md": f"---\nname: b\ndescription: Reviews.\n{written}\n---\nText.\n"}
    )
    run_here("check", "--fix", cwd=tmp_path)
    assert f"\n{corrected}\n---" in (tmp_path / ".claude/agents/b.md").read_text(encoding="utf-8")


def test_a_correction_repeats_no_name_in_json_and_toml() -> None:
    """Arrays over several lines, and keys in one line."""
    for text, word, meant, after in (
        ('{"tools": [\n  "Raed",\n  "Read"\n]}', "Raed", "Read", '{"tools": [\n  "Read"\n]}'),
        ('tools = [\n  "Read",\n  "Raed",\n]\n', "Raed", "Read", 'tools = [\n  "Read",\n]\n'),
        ('{"modle": 1, "model": 2}', "modle", "model", '{"modle": 1, "model": 2}'),
        ('{"a": "Raed", "b": "Read"}', "Raed", "Read", '{"a": "Read", "b": "Read"}'),
        ("modle = 1\nmodel = 2\n", "modle", "model", "modle = 1\nmodel = 2\n"),
    ):
        start = text.index(word)
        edits = avoid_repetitions(text, [Edit(start, start + len(word), meant)])
        assert apply_edits(text, edits) == after


ROLES = {
    "org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy:\n  lead: {subordinates: [agent_1, agent_2]}\n",
    "roles/agent_1.yaml": "_schema: orgkernel:role_profile\nrole_id: agent_1\n",
    "roles/agent_2.yaml": "_schema: orgkernel:role_profile\nrole_id: agent_2\n",
    "roles/lead.yaml": "_schema: orgkernel:role_profile\nrole_id: lead\nrole_type: commander\n",
}


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        ("agent_3", None),
        ("agnet_1", "agent_1"),
        ("Agent_2", "agent_2"),
        ("agent-1", "agent_1"),
        ("agentt", None),
        ("lad", "lead"),
        ("boss", None),
    ],
)
def test_a_stale_reference_is_corrected_if_one_name_is_near(
    tmp_path: Path, written: str, corrected: str | None
) -> None:
    """Names that differ in a number are different roles."""
    text = f"# who\nhandoff: {{may_to: [{written}]}} # sometimes\n"
    files = {**ROLES, "roles/lead.yaml": ROLES["roles/lead.yaml"] + text}
    write_tree(tmp_path, files)
    run_here("check", "--fix", cwd=tmp_path)
    now = (tmp_path / "roles/lead.yaml").read_text(encoding="utf-8")
    assert now == ROLES["roles/lead.yaml"] + text.replace(f"[{written}]", f"[{corrected or written}]")


def test_links_and_chosen_rules(tmp_path: Path) -> None:
    """A file behind a link is never changed, and only chosen rules are corrected."""
    file = write_agent(tmp_path / "a", "Read, Greb", "modle: sonnet\n")
    run_here("check", "--fix", "--select", "ORG752", cwd=tmp_path / "a")
    assert "Grep\nmodle" in file.read_text(encoding="utf-8")
    other = write_agent(tmp_path / "b", "Read, Greb")
    other.rename(tmp_path / "b/kept.md")
    other.symlink_to(tmp_path / "b/kept.md")
    assert "nothing to correct" in run_here("check", "--fix", cwd=tmp_path / "b").stderr
    for words in (["--fix", "--format", "json"], ["--diff", "--shipped"], ["--fix", "--baseline", "x.json"]):
        assert run_here("check", *words, cwd=tmp_path / "a").returncode == 2


def test_a_repeated_warning_is_counted(tmp_path: Path) -> None:
    """One message in many files is shown three times; every other one, and errors, are shown in full."""
    text = "---\nname: s{0}\ndescription: Does {0}. Use it first.\n{1}: red\n---\nText {0}\n"
    files = {
        f"skills/s{number}/SKILL.md": text.format(number, "shade" if number else "color-of-it")
        for number in range(9)
    }
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert done.stdout.count("the field `shade` is unknown") == 3
    assert done.stdout.count("the field `color-of-it` is unknown") == 1
    assert "note: 5 more ORG102: `orgkernel check --select ORG102` lists them\n" in done.stderr
    assert "9 warnings" in done.stderr
    assert run_here("check", "--select", "ORG102", cwd=tmp_path).stdout.count("is unknown") == 9


def test_warnings_about_agents_of_another_host_are_counted(tmp_path: Path) -> None:
    """Three of them are shown, although their words differ, and each misspelled name."""
    files = {
        f".claude/agents/a{number}.md": agent(
            f"a{number}", f"Does {number}. Use it for {number}.", f"codebase{number}"
        )
        for number in range(8)
    }
    files[".claude/agents/z.md"] = agent("z", "Greps. Use it for grep.", "Greb")
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert done.stdout.count("warning[ORG752]") == 4
    assert "did you mean `Grep`?" in done.stdout
    assert "note: 5 more ORG752: `orgkernel check --select ORG752` lists them\n" in done.stderr
    assert run_here("check", "--format", "concise", cwd=tmp_path).stdout.count("ORG752") == 9
