"""An organization of ours names agents of others as its source, and adds what their files cannot say."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.loading.cache import Cache
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.claude_trees import AGENTS, agent
from tests.support.in_process import run_here
from tests.support.overlays import ORG, laid_over
from tests.support.trees import change_line, write_tree

ALSO = "note: also read `team` as Claude Code, because `org/org.yaml` names it\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The organization; no test changes it."""
    return laid_over(tmp_path_factory.mktemp("overlay"))


def load(folder: Path, *paths: str) -> Snapshot:
    """A cold load."""
    return Loader(resolve_paths(paths or ["org"], str(folder)), {}).load()


def found(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Place and code of each finding."""
    return [(str(each.place), each.code) for each in snapshot.diagnostics]


def test_it_has_no_finding_and_says_what_it_read(tree: Path) -> None:
    """Its summary counts the files of the source; what lies outside of what was asked for is said."""
    done = run_here("check", "org", cwd=tree)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == ALSO + "no findings in 1 organization, 3 roles, 11 files\n"
    assert run_here("check", ".", cwd=tree).stderr == "no findings in 1 organization, 3 roles, 11 files\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("manifest code-reviewer", ["org.yaml:6", "roles/reviewer.yaml:5", "team/.claude/agents/reviewer.md:4"]),
        ("manifest code-reviewer --format json", ['"file":"org/roles/reviewer.yaml","line":5']),
        ("dispatch review", ["→ code-reviewer", "org/roles/reviewer.yaml:5", "Read, Grep"]),
        ("who-can use tool:Read", ["role:code-reviewer", "allow"]),
        ("why role:code-reviewer use tool:Read", [f"team/{AGENTS}/reviewer.md:4"]),
        ("can role:lead handoff role:fixer", ["allow"]),
        ("graph", ["├── code-reviewer", "└── fixer"]),
        ("role orders code-reviewer", ["Rank what you find."]),
    ],
)  # fmt: skip
def test_the_questions_work(tree: Path, words: str, said: list[str]) -> None:
    """Each answer points to the file that says it."""
    done = run_here(*shlex.split(words), "--path", "org", cwd=tree)
    assert all(each in done.stdout for each in said), done.stdout + done.stderr


def test_each_value_has_its_place(tree: Path) -> None:
    """A role is made of two files, and the organization of its own and the source."""
    records = load(tree).organizations["shop"].records
    post = records.posts["code-reviewer"]
    assert post.document.name == f"team/{AGENTS}/reviewer.md"
    assert [part.name for part in post.document.parts] == [
        f"team/{AGENTS}/reviewer.md",
        "org/roles/reviewer.yaml",
    ]
    places = {
        ("role_id",): f"team/{AGENTS}/reviewer.md:2:7",
        ("description",): f"team/{AGENTS}/reviewer.md:3:14",
        ("capabilities", "tools_primary", 1): f"team/{AGENTS}/reviewer.md:4:14",
        ("capabilities", "bst_domains", 0): "org/roles/reviewer.yaml:5:17",
        ("entry_rank",): "org/roles/reviewer.yaml:7:13",
        ("department",): "org/org.yaml:9:31",
    }
    assert {route: str(post.place(*route)) for route in places} == places
    assert post.profile.entry_rank == "lieutenant"
    assert post.profile.capabilities.tools_primary == ("Read", "Grep")
    assert post.profile.doctrine.salute_interval_turns == 3
    assert [str(each) for each in post.locate_items("capabilities", "bst_domains")] == [
        "org/roles/reviewer.yaml:5:17"
    ]
    assert post.locate(("capabilities",), ("tools_primary", "bst_domains")) == [
        (f"team/{AGENTS}/reviewer.md", 4, True), ("org/roles/reviewer.yaml", 5, True),
    ]  # fmt: skip
    assert str(records.document.place("hierarchy", "fixer", key=True)) == "org/org.yaml:4:5"
    assert {"Bash", "mcp__tracker", "mcp__tracker__open", "response"} <= records.tools.keys()
    assert records.files >= {
        f"team/{AGENTS}/reviewer.md",
        "org/roles/reviewer.yaml",
        "org/org.yaml",
        "team/.mcp.json",
    }


def test_a_remedy_names_the_file_that_can_say_it(tree: Path, tmp_path: Path) -> None:
    """Tools in the file of the agent, the rest in its overlay, which may have to be written."""
    asked = run_here("can", "role:code-reviewer", "use", "tool:Bash", "--path", "org", cwd=tree).stdout
    assert f"team/{AGENTS}/reviewer.md:4: write `Bash` under `tools`" in asked
    asked = run_here("can", "role:fixer", "use", "tool:Bash", "--path", "org", cwd=tree).stdout
    assert "org/roles/fixer.yaml:2: write `entry_rank: lieutenant`" in asked
    other = laid_over(tmp_path)
    (other / "org/roles/fixer.yaml").unlink()
    asked = run_here("can", "role:fixer", "use", "tool:Bash", "--path", "org", cwd=other).stdout
    words = [each.strip().partition(": write ") for each in asked.splitlines() if "fixer.yaml:" in each]
    assert [at for at, _, _ in words[:4]] == [f"org/roles/fixer.yaml:{line}" for line in (1, 2, 3, 4)]
    text = "".join(f"{write.strip('`')}\n" for _, _, write in words[:4])
    write_tree(other, {"org/roles/fixer.yaml": text})
    assert run_here("can", "role:fixer", "use", "tool:Bash", "--path", "org", cwd=other).returncode == 0
    assert found(load(other)) == [("org/org.yaml:3:1", "ORG786")]


def everything(snapshot: Snapshot) -> object:
    """All that a load answers."""
    return (
        snapshot.digest,
        snapshot.diagnostics,
        {
            org_id: (
                each.digest,
                list(each.columns),
                each.diagnostics,
                each.records.files,
                {
                    role: (post.profile, str(post.place("entry_rank")))
                    for role, post in each.records.posts.items()
                },
            )
            for org_id, each in snapshot.organizations.items()
        },
        [(each.name, each.kind, each.packed, each.format, each.home) for each in snapshot.tree.documents],
    )


def test_every_way_of_loading_says_the_same(tmp_path: Path) -> None:
    """Cold, in a process that stays and from the cache, while the source, an overlay and the organization change."""
    tree = laid_over(tmp_path / "tree")
    request = resolve_paths(["org"], str(tree))
    staying = Loader(request, {}, Cache(str(tmp_path / "cache")))
    org, overlay, agents = tree / "org/org.yaml", tree / "org/roles/reviewer.yaml", tree / "team" / AGENTS
    edits = [
        lambda: None,
        lambda: change_line(agents / "reviewer.md", "tools: Read, Grep", "tools: Read"),
        lambda: change_line(overlay, "entry_rank: lieutenant", "entry_rank: ensign"),
        overlay.unlink,
        lambda: change_line(
            org, "  - {format: claude-code, path: ../team}", "  - {format: claude-code, path: ../gone}"
        ),
        lambda: (tree / "team").rename(tree / "gone"),
        lambda: change_line(tree / "gone" / AGENTS / "lead.md", "name: lead", "name: ["),
    ]
    seen = []
    for edit in edits:
        edit()
        cold = everything(Loader(request, {}).load())
        assert everything(staying.load()) == cold
        for _ in range(2):
            fresh = Loader(request, {}, Cache(str(tmp_path / "cache")))
            assert everything(fresh.load()) == cold
            fresh.save()
        seen.append(str(cold))
    assert len(set(seen)) == len(seen)


def test_a_running_kernel_follows_both_files(tmp_path: Path) -> None:
    """It watches the source, keeps the last good version, and follows a source that moves."""
    tree = laid_over(tmp_path)
    kernel = Kernel(resolve_paths(["org"], str(tree)))
    assert f"{tree}/team/{AGENTS}" in kernel.watched
    assert f"{tree}/team/{AGENTS}" in kernel.foreign_folders
    change_line(tree / "team" / AGENTS / "fixer.md", "tools: Bash, mcp__tracker__open", "tools: Read")
    assert kernel.reload().updated == ("shop",)
    assert kernel.organization("shop").snapshot.records.posts["fixer"].profile.capabilities.tools_primary == (
        "Read",
    )
    change_line(tree / "org/roles/reviewer.yaml", "overlay: true", "overlay: true\nrole_name: Twice")
    assert kernel.reload().kept == ("shop",)
    change_line(tree / "org/roles/reviewer.yaml", "role_name: Twice", "crew_tier: utility")
    assert kernel.reload().kept == ()
    (tree / "team").rename(tree / "crew")
    assert kernel.reload().kept == ("shop",)
    assert f"{tree}/team" in kernel.watched
    change_line(
        tree / "org/org.yaml",
        "  - {format: claude-code, path: ../team}",
        "  - {format: claude-code, path: ../crew}",
    )
    assert kernel.reload().kept == ()
    assert f"{tree}/crew/{AGENTS}" in kernel.watched


def test_several_sources_and_roles_of_our_own(tmp_path: Path) -> None:
    """They stand in one hierarchy; a server that both sources have is one server."""
    tree = write_tree(
        tmp_path,
        {
            f"one/{AGENTS}/a.md": agent("a", "Works. Use it first.", "Read, mcp__web__open"),
            f"two/{AGENTS}/b.md": agent("b", "Works. Use it second.", "mcp__web__open"),
            "one/.mcp.json": '{"mcpServers": {"web": {}}}',
            "two/.mcp.json": '{"mcpServers": {"web": {}}}',
            "org.yaml": "_schema: orgkernel:organization\norg_id: all\nsources:\n"
            "  - {format: claude-code, path: one}\n  - {format: claude-code, path: two}\n"
            "hierarchy: {boss: {subordinates: [a, b]}}\n",
            "roles/boss.yaml": "_schema: orgkernel:role_profile\nrole_id: boss\nrole_type: commander\ndescription: Leads.\n",
        },
    )
    snapshot = load(tree, ".")
    assert found(snapshot) == []
    view = snapshot.organizations["all"].index
    assert {role: view.superiors.get(role) for role in view.roles} == {"boss": None, "a": "boss", "b": "boss"}


def test_one_role_in_two_places_is_an_error(tmp_path: Path) -> None:
    """In two sources, and in a source and a profile that is no overlay: both places are named."""
    files = {
        f"one/{AGENTS}/a.md": agent("a", "Works. Use it first.", "Read"),
        f"two/{AGENTS}/a.md": agent("a", "Works. Use it second.", "Read"),
        "org.yaml": "_schema: orgkernel:organization\norg_id: all\nsources:\n"
        "  - {format: claude-code, path: one}\n  - {format: claude-code, path: two}\nhierarchy: {a: {}}\n",
    }
    (said,) = load(write_tree(tmp_path / "x", files), ".").diagnostics
    assert (said.code, said.place.file, said.related[0].place.file) == (
        "ORG217",
        f"two/{AGENTS}/a.md",
        f"one/{AGENTS}/a.md",
    )
    del files[f"two/{AGENTS}/a.md"]
    files["org.yaml"] = files["org.yaml"].replace("  - {format: claude-code, path: two}\n", "")
    files["roles/a.yaml"] = "_schema: orgkernel:role_profile\nrole_id: a\ndescription: Also works.\n"
    snapshot = load(write_tree(tmp_path / "y", files), ".")
    assert [each.code for each in snapshot.diagnostics] == ["ORG217"]


def test_two_organizations_have_one_source(tmp_path: Path) -> None:
    """Each adds its own; a folder that holds an organization is a source like any other, so that there is no cycle."""
    files = {
        f"{AGENTS}/a.md": agent("a", "Works. Use it first.", "Read"),
        f"{AGENTS}/b.md": agent("b", "Works. Use it second."),
        "org.yaml": "_schema: orgkernel:organization\norg_id: one\nsources: [{format: claude-code, path: .}]\n"
        "hierarchy: {a: {subordinates: [b]}}\n",
        "roles/a.yaml": "_schema: orgkernel:role_profile\nrole_id: a\noverlay: true\nrole_type: executive\n",
        "two/org.yaml": "_schema: orgkernel:organization\norg_id: two\nsources: [{format: claude-code, path: ..}]\n"
        "hierarchy: {b: {subordinates: [a]}}\n",
        "two/roles/b.yaml": "_schema: orgkernel:role_profile\nrole_id: b\noverlay: true\nrole_type: commander\n",
    }
    snapshot = load(write_tree(tmp_path, files), ".")
    assert found(snapshot) == []
    one, two = (snapshot.organizations[each].index for each in ("one", "two"))
    assert (one.superiors, two.superiors) == ({"b": "a", "a": "user"}, {"a": "b", "b": "user"})
    assert one.records.posts["a"].profile.role_type == "executive"
    assert two.records.posts["a"].profile.role_type == "specialist"
    assert two.records.posts["b"].profile.role_type == "commander"


def test_suppressions_of_either_file_count(tmp_path: Path) -> None:
    """An overlay accepts what is found about its role in the file of the source; other roles are not meant."""
    tree = laid_over(tmp_path)
    for name in ("fixer", "reviewer"):
        path = tree / "team" / AGENTS / f"{name}.md"
        path.write_text(
            "\n".join(x for x in path.read_text().split("\n") if not x.startswith("tools")), encoding="utf-8"
        )
    assert [code for _, code in found(load(tree))] == ["ORG750", "ORG750"]
    overlay = tree / "org/roles/fixer.yaml"
    overlay.write_text(
        overlay.read_text() + "suppressions: [{rule: ORG750, reason: it mends everything}]\n",
        encoding="utf-8",
    )
    assert found(load(tree)) == [(f"team/{AGENTS}/reviewer.md:2:7", "ORG750")]
    path = tree / "team" / AGENTS / "reviewer.md"
    path.write_text(
        path.read_text().replace("---\n", "---\norgkernel-suppressions: [{rule: ORG750, reason: so}]\n", 1),
        encoding="utf-8",
    )
    assert found(load(tree)) == []


def test_a_baseline_allows_what_is_known_in_a_source(tmp_path: Path) -> None:
    """It names the file of the agent."""
    tree = laid_over(tmp_path)
    change_line(tree / "team" / AGENTS / "fixer.md", "tools: Bash, mcp__tracker__open", "tools: Bash, Greb")
    assert run_here("check", "org", "--write-baseline", ".known.json", cwd=tree).returncode == 0
    assert "fixer.md" in (tree / ".known.json").read_text()
    assert (
        run_here("check", "org", "--baseline", ".known.json", "--fail-on", "info", cwd=tree).returncode == 0
    )


def test_two_revisions_are_compared(tmp_path: Path) -> None:
    """What changed in the source and in an overlay, each with its line."""
    tree = laid_over(tmp_path)

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=tree,
            check=True,
            capture_output=True,
        )

    git("init")
    git("add", "-A")
    git("commit", "-m", "one")
    change_line(tree / "team" / AGENTS / "reviewer.md", "tools: Read, Grep", "tools: Read, Grep, Write")
    change_line(tree / "org/roles/reviewer.yaml", "entry_rank: lieutenant", "entry_rank: ensign")
    done = run_here("diff", "git:HEAD", "org", cwd=tree)
    assert done.returncode == 0, done.stderr
    assert f"team/{AGENTS}/reviewer.md:4" in done.stdout
    assert "org/roles/reviewer.yaml:7" in done.stdout
    git("commit", "-am", "two")
    between = run_here("diff", "git:HEAD~1:org", "git:HEAD:org", cwd=tree)
    assert between.stdout == done.stdout, between.stderr


def test_a_source_outside_has_to_be_allowed(tmp_path: Path) -> None:
    """By the environment of the caller, or by naming it; nothing of it is told before."""
    tree = laid_over(tmp_path / "away")
    project = tmp_path / "project"
    (project / "org").mkdir(parents=True)
    (project / "org/org.yaml").write_text(ORG.replace("../team", str(tree / "team")), encoding="utf-8")
    for name in ("roles", "domains.yaml", "ranks.yaml"):
        (tree / "org" / name).rename(project / "org" / name)
    done = run_here("check", "org", "--format", "concise", cwd=project)
    assert "ORG030" in done.stdout
    assert "code-reviewer.md" not in done.stdout
    (project / "orgkernel.toml").write_text('paths = ["org"]\n', encoding="utf-8")
    done = run_here("check", cwd=project, env={"ORGKERNEL_LINKS": f"{tree}/team"})
    assert (done.returncode, done.stdout) == (0, "")
    assert f"note: also read `{tree}/team` as Claude Code" in done.stderr


def test_a_finding_in_a_source_is_shown_at_its_line(tmp_path: Path) -> None:
    """As JSON, with the path from where the user stands."""
    tree = laid_over(tmp_path)
    change_line(tree / "team" / AGENTS / "fixer.md", "tools: Bash, mcp__tracker__open", "tools: Bash, Greb")
    done = run_here("check", "org", "--format", "json", cwd=tree)
    (said,) = json.loads(done.stdout)
    assert (said["file"], said["line"], said["column"]) == (f"team/{AGENTS}/fixer.md", 4, 14)


def test_an_organization_means_the_same_from_every_folder(tmp_path: Path) -> None:
    """Outside of a project, its sources can also be next to its folder, but no farther away."""
    tree = laid_over(tmp_path / "a/b")
    counts = set()
    for folder, words in (
        (tree, ["org"]),
        (tree / "org", []),
        (tree / "org/roles", [".."]),
        (tree.parent, ["b/org"]),
        (tmp_path.parent, [str(tree / "org")]),
        (tree / "team", ["../org"]),
    ):
        done = run_here("check", *words, cwd=folder)
        assert (done.returncode, done.stdout) == (0, ""), (folder, done.stdout)
        counts.add(done.stderr.splitlines()[-1])
    assert len(counts) == 1, counts
    done = run_here("check", cwd=tree / "org/roles")
    assert done.returncode == 0, done.stdout
    overlay = "_schema: orgkernel:role_profile\nrole_id: misspelled\noverlay: true\n"
    write_tree(tree, {"org/more/other.yaml": overlay})
    for folder, words in ((tree, ["org"]), (tree / "org", []), (tree / "org/more", [])):
        assert "ORG784" in run_here("check", *words, cwd=folder).stdout, folder
    (tree / "org/more/other.yaml").unlink()
    (tree / "org/org.yaml").write_text(ORG.replace("../team", "../../b/team"), encoding="utf-8")
    assert run_here("check", cwd=tree / "org").returncode == 0
    (tree / "team").rename(tmp_path / "a/team")
    (tree / "org/org.yaml").write_text(ORG.replace("../team", "../../team"), encoding="utf-8")
    assert "ORG030" in run_here("check", "--format", "concise", cwd=tree / "org").stdout


def test_a_role_of_a_source_with_subordinates_is_no_specialist(tmp_path: Path) -> None:
    """Unless its overlay says so, which is an error."""
    tree = laid_over(tmp_path / "x")
    role = tree / "org/roles/lead.yaml"
    text = role.read_text(encoding="utf-8").replace("role_type: executive\n", "")
    role.write_text(text, encoding="utf-8")
    assert "lead (lead), executive of shop" in run_here("manifest", "lead", "--path", "org", cwd=tree).stdout
    role.write_text(text + "role_type: specialist\n", encoding="utf-8")
    assert "ORG208" in run_here("check", "org", "--format", "concise", cwd=tree).stdout


def test_a_path_that_no_system_has_is_a_finding(tmp_path: Path) -> None:
    """It never stops a server from reloading."""
    org = '_schema: orgkernel:organization\norg_id: shop\nhierarchy: {}\nsources: [{path: "a\\0b", format: claude-code}]\n'
    done = run_here("check", "--format", "concise", cwd=write_tree(tmp_path, {"org.yaml": org}))
    assert done.returncode == 1
    assert "org.yaml:4:11: error[ORG030]" in done.stdout
    assert "contains a character that no path has" in done.stdout
