"""The command catalog: its documents, what an organization adds to it, and how a command is explained."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from orgkernel.shell.catalog import CommandPrograms, find_shipped, list_shipped_programs
from orgkernel.shell.check import check_command, explain_command, find_writes
from orgkernel.shell.ownership import Ground
from orgkernel.shell.readers import READERS
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY

ORG = """\
_schema: orgkernel:organization
org_id: shop
hierarchy: {chief: {}}
"""
CHIEF = """\
_schema: orgkernel:role_profile
role_id: chief
role_type: commander
"""
COMMANDS = """\
_schema: orgkernel:command_catalog
programs:
  shopctl:
    also: [sctl]
    values: {path_written: [-o, --output], shell: [--then]}
    harmless_with: [--dry-run]
    subcommands:
    - {names: [orders list, "stock *"], effect: reads}
    - {names: [orders purge], operation: unbounded_delete, message: deletes old orders}
    - {names: [exec], effect: reads, operands: {first: [text], rest: shell_words}, elsewhere: true}
    - names: [sync]
      effect: reads
      cases:
      - {options: [--mirror], effect: deletes, message: deletes what the source lacks}
  git:
    subcommands:
    - {names: [fetch], effect: changes, message: starts the deployment}
"""
# Each was called harmless by the name of its program once.
DESTRUCTIVE = [
    "docker image prune -af", "pip uninstall -y requests", "npm publish", "mix ecto.drop", "dotnet ef database drop -f", "cmake -E rm -rf /srv",
    "gpg --delete-secret-keys x", "dpkg -P nginx", "celery purge -f", "mlflow gc", "crane delete r/x", "tar xf a.tar -C / --overwrite", "chmod -R 777 /",
    "perl -pi -e 's/a/b/' /etc/passwd", "screen -dm rm -rf /srv", "ffmpeg -y -i a.mp4 /srv/b.mp4", "git lfs prune",
    "gh api graphql -f query='mutation { deleteIssue(input: {}) { id } }'",
]  # fmt: skip
# A command may remove what it made itself.
OWN = [
    "git branch tmp && git branch -D tmp",
    "git switch -c tmp && git commit -am x && git switch main && git branch -D tmp",
    "git tag tmp && git tag -d tmp",
    "docker run -d --name tmp nginx && curl -s localhost && docker rm -f tmp",
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An organization with a catalog of its own."""
    for name, text in (("org.yaml", ORG), ("roles/chief.yaml", CHIEF), ("commands.yaml", COMMANDS)):
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_shipped_documents_have_no_findings(tmp_path: Path) -> None:
    """They are checked like the documents of a user."""
    shutil.copytree(REPOSITORY / "ontology/commands", tmp_path / "commands")
    done = run_here("check", "commands", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no findings" in done.stdout + done.stderr


def test_readers_that_entries_name_exist_and_are_used() -> None:
    """Every reader that an entry names exists, and every reader is named by an entry."""
    named = {
        each["reader"]
        for facts in list_shipped_programs().values()
        for each in (facts, *facts.get("subcommands", ()))
        if "reader" in each
    }
    words = {"run_script", "run_task", "sql", "sql_file", "delete_file", "delete_tree"}
    assert named <= READERS.keys()
    assert named | words | {"?", "./"} == set(READERS)


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_nothing_is_harmless_by_its_name(command: str) -> None:
    """Harmless is claimed for each subcommand."""
    assert check_command(command).outcome != "harmless"


@pytest.mark.parametrize("command", OWN)
def test_a_command_may_remove_what_it_made(command: str) -> None:
    """And nothing else by the same words."""
    assert check_command(command).outcome == "harmless"
    assert check_command(command.replace("tmp", "old", 1)).outcome != "harmless"


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("shopctl orders list", "harmless"),
        ("sctl stock west", "harmless"),
        ("shopctl orders purge", "destructive"),
        ("shopctl orders purge --dry-run", "harmless"),
        ("shopctl orders purge --dry-run=false", "destructive"),
        ("shopctl orders archive", "cannot_tell"),
        ("shopctl $VERB", "cannot_tell"),
        ("shopctl exec web 'rm -rf /srv'", "destructive"),
        ("shopctl exec web ls", "harmless"),
        ("shopctl sync --mirror", "destructive"),
        ("shopctl sync --mir", "destructive"),
        ("shopctl sync $OPTIONS", "cannot_tell"),
        ("shopctl sync --delete-all", "cannot_tell"),
        ("shopctl orders list -o /etc/hosts", "destructive"),
        ("shopctl orders list --then 'git push -f'", "destructive"),
        ("git fetch", "cannot_tell"),
        ("git status", "harmless"),
        ("git push -f", "destructive"),
        ("/usr/lib/git-core/git-push -f", "destructive"),
        ("Remove-Item -Recurse -Force /srv", "destructive"),
        ("Remove-Item build/a.txt", "harmless"),
        ("Get-Content a.txt | Select-String x", "harmless"),
    ],
)
def test_an_organization_adds_and_narrows_programs(shop: Path, command: str, outcome: str) -> None:
    """The same through the command line and HTTP. Without the organization, the shipped catalog answers."""
    kernel = Kernel.open(shop / "shop")
    with TestClient(
        create_app(kernel), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
    ) as client:
        answer = client.post("/v1/orgs/shop/commands/check", json={"command": command})
        assert answer.status_code == 200, answer.text
        assert answer.json()["outcome"] == outcome, answer.json()
        explained = client.post("/v1/orgs/shop/commands/explain", json={"command": command})
        assert explained.json()["outcome"] == outcome
        shipped = client.post("/v1/commands/check", json={"command": "shopctl orders list"})
        assert shipped.json()["outcome"] == "cannot_tell"


def test_a_finding_names_the_line_of_its_entry(shop: Path) -> None:
    """That of the organization, or that of the shipped catalog."""
    done = run_here("command", "check", "--org", "shop", "--", "shopctl orders purge; git push -f", cwd=shop)
    assert done.returncode == 1, done.stderr
    assert "deletes old orders [shop/commands.yaml:9]" in done.stdout
    (line,) = [each for each in done.stdout.splitlines() if "force_push" in each]
    place = line.rpartition("[")[2].rstrip("]")
    file, _, number = place.partition(":")
    assert "push" in (REPOSITORY / file).read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert run_here("command", "check", "--", "shopctl orders list", cwd=shop).returncode == 2


def test_each_word_is_explained(shop: Path) -> None:
    """With its role, through every program in between."""
    done = run_here(
        "command",
        "explain",
        "--org",
        "shop",
        "--format",
        "json",
        "--",
        "sudo sctl orders purge -o out.txt x",
        cwd=shop,
    )
    (outer, inner) = json.loads(done.stdout)["programs"]
    assert (outer["entry"], inner["entry"], inner["through"]) == ("sudo", "sctl orders purge", ["sudo"])
    assert inner["operations"] == ["unbounded_delete"]
    assert {each["word"]: each["role"] for each in inner["uses"]} == {
        "orders": "subcommand", "purge": "subcommand", "-o": "option", "out.txt": "path_written", "x": "text",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "changed", "unnamed"),
    [
        ("black src/a.py", ["src/a.py"], []),
        ("black --check src/a.py", [], []),
        ("ruff check --fix src", ["src"], []),
        ("prettier -w a.ts b.ts", ["a.ts", "b.ts"], []),
        ("pandoc a.md -o b.pdf", ["b.pdf"], []),
        ("gcc -ob.out a.c", ["b.out"], []),
        ("ffmpeg -i a.mp4 b.mp3", ["b.mp3"], []),
        ("scp host:a.txt b.txt", ["b.txt"], []),
        ("scp a.txt host:b.txt", [], []),
        ("tar cf b.tar src", ["b.tar"], []),
        ("git -C sub restore a.py", ["sub/a.py"], []),
        ("npm install left-pad", [], ["package.json"]),
        ("npm install", [], []),
        ("cd web && yarn add left-pad", [], ["web/package.json"]),
    ],
)
def test_files_that_a_program_changes_are_known(command: str, changed: list[str], unnamed: list[str]) -> None:
    """By its options and operands, relative to the folder in which it runs."""
    writes = find_writes(command, Ground(own=("**",)))
    assert [path for path, _ in writes.touched] == changed
    assert list(writes.unnamed) == unnamed


def test_files_that_a_program_reads_are_known() -> None:
    """So that rules about reads can decide them."""
    assert find_writes("cat .env && head -3 a.txt | grep x b.txt").read == (".env", "a.txt", "b.txt")


def test_an_entry_of_an_organization_counts_before_the_shipped_one() -> None:
    """What it does not state is taken from the shipped entry."""
    programs = CommandPrograms(
        {
            "npm": {
                "subcommands": [{"names": ["run"], "effect": "changes", "at": "c.yaml:1"}],
                "at": "c.yaml:1",
            }
        }
    )
    assert explain_command("npm run build", programs=programs).outcome == "cannot_tell"
    assert explain_command("npm run build").outcome == "harmless"
    assert explain_command("npm ls", programs=programs).outcome == "harmless"


def test_a_program_is_found_by_each_of_its_names_as_the_whole_catalog_has_it() -> None:
    """Only the line of a program is parsed, and no name, value or part of a line is taken for another one."""
    for name, facts in list_shipped_programs().items():
        for each in (name, *facts.get("also", ())):
            found = find_shipped(each)
            assert found is not None, each
            assert each == name or each in found.get("also", ()) or each in list_shipped_programs()
        assert find_shipped(name) == facts
    for name in (
        "",
        "names",
        "programs",
        "readers",
        "git push",
        'git": "git',
        "gi",
        "it",
        "\n",
        "\\",
        '"',
        "ü",
        "\ud800",
    ):
        assert find_shipped(name) is None, name


def test_readers_are_where_the_table_says() -> None:
    """Each module has exactly the readers that the table of names gives it."""
    from importlib import import_module

    from orgkernel.shell.readers import _MODULES

    for module, names in _MODULES.items():
        assert set(import_module(f"orgkernel.shell.readers.{module}").READERS) == set(names.split())


# What a pattern of a harmless entry must name: a word that reads.
READING_WORDS = {
    "list", "ls", "get", "show", "describe", "view", "info", "status", "diff", "search", "inspect", "find", "read", "help", "wait",
    "logs", "metrics", "report", "retrieve", "fetch", "lookup", "head", "validate", "verify", "check", "checks", "estimate",
    "simulate", "preview", "filter", "select", "detect", "exists", "download", "query", "browse", "what", "tail", "is", "path",
    "version",
}  # fmt: skip


def test_no_pattern_is_harmless_unless_it_names_a_word_that_reads() -> None:
    """An entry for many subcommands at once, such as `* create-*`, cannot claim that all of them are harmless."""
    wide = [
        f"{program} {words}"
        for program, facts in list_shipped_programs().items()
        for below in facts.get("subcommands", ())
        if below.get("effect") in ("reads", "adds", "writes") and "operation" not in below
        for words in below["names"]
        if "*" in words
        and not (below["effect"] == "reads" and READING_WORDS & set(re.findall(r"[a-z]+", words.lower())))
    ]
    assert wide == []


@pytest.mark.parametrize(
    "command",
    [
        "docker push a/b:1", "podman push b quay.io/a/b", "docker compose push", "docker compose build --push", "docker-compose push",
        "docker buildx build --push .", "docker buildx imagetools create -t a/b:2 a/b:1", "docker build -o type=registry .",
        "buildah push b docker://quay.io/a/b", "skopeo copy oci:b docker://ghcr.io/a/b", "oras push ghcr.io/a/b f", "crane push b.tar a/b",
        "crane tag a/b:1 latest", "regctl image copy a/b c/d", "helm push b.tgz oci://ghcr.io/a", "flux push artifact oci://ghcr.io/a/b",
        "ctr images push ghcr.io/a/b", "gh release create v1", "gh release upload v1 f", "glab release create v1", "gh gist create --public f",
        "twine upload dist/*", "cargo publish", "npm publish", "yarn npm publish", "pnpm publish", "gem push a.gem", "uv publish",
        "poetry publish", "dotnet nuget push a.nupkg", "heroku container:push web", "gcloud builds submit --tag gcr.io/a/b", "vagrant cloud publish",
        "kaggle models create -p m", "mlflow sagemaker build-and-push-container",
    ],
)  # fmt: skip
def test_what_others_can_fetch_is_published(command: str) -> None:
    """A push to a registry and a release publish; a push to a registry of this machine does not."""
    assert [each.id for each in check_command(command).operations] == ["publish"]


@pytest.mark.parametrize(
    "command",
    [
        "docker push localhost:5000/b:1", "podman push b dir:/tmp/b", "podman push b docker://127.0.0.1:5000/b", "gh release create v1 --draft",
        "skopeo copy docker://a/b oci:b", "crane append -f l.tar -o b.tar", "docker buildx imagetools create --dry-run -t a a", "gh gist create f",
        "oras copy a/b --to-oci-layout b", "docker build -t a/b .",
    ],
)  # fmt: skip
def test_what_stays_here_is_not_published(command: str) -> None:
    """An image that stays on this machine, or a draft, is no publication."""
    assert check_command(command).outcome == "harmless"


@pytest.mark.parametrize(
    "command",
    ["terraform apply", "pulumi up", "cdk deploy", "helmfile apply", "serverless deploy", "firebase deploy", "vercel deploy", "ansible-playbook a.yml"],
)  # fmt: skip
def test_deployments_cannot_be_told(command: str) -> None:
    """What a deployment replaces is not in its words."""
    assert check_command(command).outcome == "cannot_tell"
