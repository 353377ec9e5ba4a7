"""A cache that is damaged, foreign, full, in use or hostile: answers stay right, and what is said is plain."""

from __future__ import annotations

import hmac
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from orgkernel.loading.cache import Cache
from orgkernel.loading.sources import PackedParts
from orgkernel.snapshots import loader as loading
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.packing import DamagedEntry, pack_snapshot, verify_snapshot
from orgkernel.snapshots.roots import resolve_paths
from tests.cli.running import ORGKERNEL, SHOP
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY, write_tree
from tests.support.yaml_text import read_yaml, read_yaml_file

MAGIC = b"orgkernel cache 2\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project with a cache of its own."""
    settings = 'cache = ".orgkernel_cache"\n'
    return write_tree(tmp_path / "shop", {**SHOP, "orgkernel.toml": settings})


def cached(shop: Path) -> list[Path]:
    """The entries of the cache."""
    return sorted((shop / ".orgkernel_cache").glob("*.cached"))


def ask(shop: Path, *more: str) -> tuple[int, str, str]:
    """What `orgkernel dispatch` and `check` say of the shop."""
    done = run_here("dispatch", "codegen", "--org", "shop", *more, cwd=shop)
    checked = run_here("check", *more, cwd=shop)
    return done.returncode + checked.returncode, done.stdout + checked.stdout, done.stderr + checked.stderr


def entry(path: Path, body: bytes, secret: bytes | None = None) -> bytes:
    """What a file of the cache holds for a body, if it is written by who knows the secret."""
    if secret is None:
        secret = (Path(os.environ["XDG_CACHE_HOME"]) / "orgkernel" / "cache.secret").read_bytes()
    key = path.name.removesuffix(".cached").encode()
    return MAGIC + hmac.digest(secret, len(key).to_bytes(4, "big") + key + body, "sha256") + body


def test_a_flipped_bit_or_a_cut_anywhere_is_a_miss(shop: Path) -> None:
    """In the head, in the sum, in the names, in a record, in the columns, at the end: never an error, never an answer."""
    plain = ask(shop, "--no-cache")
    assert ask(shop) == plain
    whole = {path: path.read_bytes() for path in cached(shop)}
    assert len(whole) == 4
    draw = random.Random(1)
    for path, content in whole.items():
        size = len(content)
        places = {0, 5, len(MAGIC), len(MAGIC) + 31, len(MAGIC) + 32, size // 2, size - 1}
        for place in sorted(places | {draw.randrange(size) for _ in range(8)}):
            flipped = bytearray(content)
            flipped[place] ^= 1 << draw.randrange(8)
            for damaged in (bytes(flipped), content[:place]):
                for other, good in whole.items():
                    other.write_bytes(damaged if other == path else good)
                assert ask(shop) == plain, (path.name, place)


def test_what_is_damaged_is_replaced(shop: Path) -> None:
    """The next load puts a whole entry in its place."""
    plain = ask(shop)
    (snapshot,) = (path for path in cached(shop) if path.name.startswith("snapshot"))
    good = snapshot.read_bytes()
    snapshot.write_bytes(good[:-1])
    assert ask(shop) == plain
    assert snapshot.read_bytes() == good


def test_the_cache_of_another_version_is_not_used(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program, library or kind of machine has other keys: both may share a folder."""
    plain = ask(shop)
    before = cached(shop)
    monkeypatch.setattr(loading, "compute_program_fingerprint", lambda store: b"another version")
    assert ask(shop) == plain
    assert len(cached(shop)) == 2 * len(before) - 1
    assert {path.name for path in before} < {path.name for path in cached(shop)}


HOSTILE = {
    "nested deeply": b"\x91" * 200_000 + b"\xc0",
    "nested maps": b"\x81\xa1a" * 100_000 + b"\xc0",
    "a huge list": b"\xdd\xff\xff\xff\xff",
    "a huge text": b"\xdb\xff\xff\xff\xff",
    "a huge map": b"\xdf\xff\xff\xff\xff",
    "of another type": msgspec.msgpack.encode({"files": 1}),
    "nothing": b"",
    "an unused byte": b"\xc1",
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_hostile_entries_with_a_right_checksum_are_misses(hostile: bytes, shop: Path) -> None:
    """An attacker who can write the cache can also compute checksums, so nesting, lengths and types are limited."""
    plain = ask(shop)
    for path in cached(shop):
        path.write_bytes(entry(path, hostile))
    assert ask(shop) == plain


def test_parts_that_turn_out_to_be_wrong_later_are_told_and_left(shop: Path) -> None:
    """A snapshot of the right shape with invalid records and marks: the documents are read without the cache, and
    this is reported once.
    """
    plain = run_here("manifest", "dev", "--org", "shop", "--format", "json", cwd=shop)
    (path,) = (path for path in cached(shop) if path.name.startswith("snapshot"))
    content = path.read_bytes()
    body = content[len(MAGIC) + 32 :]
    everything = msgspec.msgpack.decode(body)
    for _, _, _, _, _, documents, *_ in everything[0]:
        documents[:] = [[kind, b"\xc1", b"\xc1", unknown] for kind, _, _, unknown in documents]
    path.write_bytes(entry(path, msgspec.msgpack.encode(everything)))
    done = run_here("manifest", "dev", "--org", "shop", "--format", "json", cwd=shop)
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    assert run_here("manifest", "dev", "--org", "shop", "--format", "json", cwd=shop).stderr == ""


def test_a_server_looks_at_everything_before_it_answers(shop: Path) -> None:
    """What was restored whole passes; one wrong record, or places of another shape, do not."""
    request = resolve_paths(["."], str(shop))
    cache = Cache(str(shop / "c"))
    loader = Loader(request, {}, cache)
    loader.load()
    loader.save()
    restored = Loader(request, {}, cache).load()
    verify_snapshot(restored)
    for wrong in (
        PackedParts(b"\xc1", b"\x00"),
        PackedParts(b"\x80", b"\x00"),
        PackedParts(restored.tree.documents[0].packed.record, b"\xa1a"),
    ):
        snapshot = Loader(request, {}, cache).load()
        snapshot.tree.documents[0].packed = wrong
        with pytest.raises(DamagedEntry):
            verify_snapshot(snapshot)


def test_an_entry_that_another_user_can_write_is_ignored(shop: Path) -> None:
    """Who writes an entry decides what is answered."""
    cache = Cache(str(shop / "c"))
    assert cache.put("a", b"body")
    path = shop / "c" / "a.cached"
    assert cache.find("a") == b"body"
    for mode in (0o666, 0o620):
        path.chmod(mode)
        assert cache.find("a") is None
    path.chmod(0o600)
    for mode in (0o777, 0o720):
        (shop / "c").chmod(mode)
        assert cache.find("a") is None
        assert not cache.has("a")
        assert not cache.put("b", b"body")
    assert "other users may write to it" in cache.problem
    (shop / "c").chmod(0o700)
    assert cache.find("a") == b"body"
    if os.getuid() == 0:
        path.chmod(0o600)
        os.chown(path, 12345, 12345)
        assert cache.find("a") is None


def test_a_swapped_entry_is_not_believed(tmp_path: Path) -> None:
    """An entry counts under its own key only, and only for who knows the secret."""
    cache = Cache(str(tmp_path), secret=b"1" * 32)
    cache.put("a", b"of a")
    cache.put("b", b"of b")
    shutil.copy(tmp_path / "a.cached", tmp_path / "b.cached")
    assert cache.find("b") is None
    assert cache.find("a") == b"of a"
    assert Cache(str(tmp_path), secret=b"2" * 32).find("a") is None


BROKEN = "_schema: orgkernel:role_profile\nrole_id: dev\nreports_to: nobody_there\n"


def forge(shop: Path, attacker: Path) -> None:
    """Make the tree broken, and commit a cache that says it is whole: the attack of a pull request."""
    (shop / "roles" / "dev.yaml").write_text(BROKEN)
    broken = run_here("check", cwd=shop)  # on the machine of the attacker
    assert broken.returncode == 1
    sound = write_tree(attacker / "shop", {**SHOP, "orgkernel.toml": 'cache = ".orgkernel_cache"\n'})
    run_here("check", cwd=sound)
    (good,) = (path for path in cached(sound) if path.name.startswith("snapshot"))
    (bad,) = (path for path in cached(shop) if path.name.startswith("snapshot"))
    body = good.read_bytes()[len(MAGIC) + 32 :]
    bad.write_bytes(entry(bad, body))
    assert run_here("check", cwd=shop).returncode == 0, "the attack works where the secret is known"


@pytest.mark.parametrize("environment", [{}, {"CI": "true"}], ids=["at home", "in CI"])
def test_a_committed_cache_is_not_believed(
    environment: dict[str, str], shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the attacker signs with a secret of their own, the broken tree fails."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("XDG_CACHE_HOME", str(tmp_path / "attacker_home"))
        forge(shop, tmp_path / "attacker")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for secret in (None, b"", bytes(32)):
        if secret is not None:
            for path in cached(shop):
                path.write_bytes(entry(path, path.read_bytes()[len(MAGIC) + 32 :], secret))
        assert run_here("check", cwd=shop).returncode == 1


def test_no_cache_in_the_tree_is_used_in_ci(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one that this user has written; a note says so. The user's own cache is used."""
    run_here("check", cwd=shop)
    (shop / ".git").mkdir()
    inner = write_tree(shop / "inner", {"orgkernel.toml": 'cache = "../.orgkernel_cache"\npaths = [".."]\n'})
    monkeypatch.setenv("CI", "true")
    for folder in (shop, inner):
        before = {path: path.read_bytes() for path in cached(shop)}
        done = run_here("check", cwd=folder)
        assert done.returncode == 0
        assert "it is in the checked tree, and `CI` is set" in done.stderr
        assert {path: path.read_bytes() for path in cached(shop)} == before
    (shop / "orgkernel.toml").unlink()
    assert "note" not in run_here("check", cwd=shop).stderr
    assert list(Path(os.environ["XDG_CACHE_HOME"]).glob("orgkernel/snapshot-*"))


def test_a_secret_that_others_may_write_is_not_used(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a cache beside the documents proves nothing and is not used; the answer is the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    plain = ask(shop)
    secret = tmp_path / "home" / "orgkernel" / "cache.secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    secret.chmod(0o666)
    done = run_here("check", cwd=shop)
    assert "its secret in" in done.stderr
    assert done.stdout in plain[1]
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert "without `HOME` there is no place for its secret" in run_here("check", cwd=shop).stderr


def test_the_hook_uses_no_cache_and_the_action_says_it_is_ci() -> None:
    """Neither hooks nor steps use a cache in the checked tree; a comparison never uses one."""
    hooks = read_yaml((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entries = [hook["entry"].split()[1:] for hook in hooks]
    assert entries == [["check", "--no-cache"], ["test", "--no-cache"], ["diff", "git:HEAD"]]
    steps = read_yaml_file(REPOSITORY / "action.yml")["runs"]["steps"]
    for command in ("check", "test"):
        (step,) = (step for step in steps if f'/orgkernel" {command}' in step["run"])
        assert "export CI=true\n" in step["run"]


def test_a_folder_that_cannot_be_written_costs_one_sentence(shop: Path) -> None:
    """The answer is right, the exit code too, stdout holds nothing else."""
    plain = run_here("dispatch", "codegen", "--org", "shop", "--no-cache", cwd=shop)
    (shop / ".orgkernel_cache").write_text("a file where a folder should be")
    done = run_here("dispatch", "codegen", "--org", "shop", cwd=shop)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert done.stderr == f"note: the cache {shop}/.orgkernel_cache cannot be written: file exists\n"


def test_a_read_only_folder_costs_one_sentence(tmp_path: Path) -> None:
    """If the cache folder cannot be written, the answers are right, and a sentence reports it."""
    # The administrator may write anywhere, so somebody else saves.
    late = "folder.chmod(0o555)\nimport os\nif os.getuid() == 0: os.setgid(65534), os.setuid(65534)"
    assert run_process(tmp_path, late) == "right, the cache CACHE cannot be written: permission denied"


def test_a_full_disk_costs_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that is full."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    assert run_process(tmp_path, "", limit) == "right, the cache CACHE cannot be written: file too large"
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.stat().st_size > 200] == []
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.suffix == ".new"] == []


PROGRAM = """
import sys
from pathlib import Path
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.packing import pack_snapshot
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.loading.cache import Cache
folder = Path(sys.argv[2])
request = resolve_paths([sys.argv[1]], "/")
loader = Loader(request, {{}}, Cache(str(folder)))
same = pack_snapshot(loader.load()) == pack_snapshot(Loader(request, {{}}).load())
{late}
loader.save()
print("right" if same else "wrong", loader.cache.problem.replace(str(folder), "CACHE") or "kept", sep=", ")
"""


def run_process(tmp_path: Path, late: str, before: Callable[[], None] | None = None) -> str:
    """A process that loads the shipped templates with a cache; what it says of them and of the cache."""
    (tmp_path / "cache").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(late=late), str(REPOSITORY / "templates"), str(tmp_path / "cache")],
        capture_output=True, text=True, check=False, preexec_fn=before,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.strip()


def test_processes_that_fill_the_cache_at_once_leave_it_whole(tmp_path: Path) -> None:
    """Four start from nothing at the same moment; all are right, and the next one finds everything."""
    arguments = [
        sys.executable,
        "-c",
        PROGRAM.format(late=""),
        str(REPOSITORY / "templates"),
        str(tmp_path / "c"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    started = [
        subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)
    ]
    assert [process.communicate()[0] for process in started] == ["right, kept\n"] * 4
    names = sorted(path.name.partition("-")[0] for path in (tmp_path / "c").iterdir())
    assert names == [".gitignore", "CACHEDIR.TAG", "code", "last", "snapshot", "tree"]


def test_a_process_killed_while_it_fills_the_cache_leaves_nothing_half(tmp_path: Path) -> None:
    """If a writer is killed at any moment, the next reader finds whole entries or none."""
    program = (
        "import sys\nfrom orgkernel.loading.cache import Cache\ncache = Cache(sys.argv[1])\nprint('begun', flush=True)\n"
        "turn = 0\nwhile True:\n    turn += 1\n    cache.put('entry', bytes([turn % 256]) * 2_000_000)\n"
    )
    folder = tmp_path / "cache"
    draw = random.Random(2)
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}
        )  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.uniform(0.002, 0.05))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        left = folder / "entry.cached"
        body = Cache(str(folder)).find("entry")
        assert (body is None) == (not left.exists())
        assert body is None or (len(body) == 2_000_000 and len(set(bytes(body))) == 1)


def test_what_dead_processes_left_is_removed(tmp_path: Path) -> None:
    """A temporary file that is an hour old has no owner; a new one could have one."""
    cache = Cache(str(tmp_path))
    for name, age in (("old.new", 7_200), ("young.new", 0)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    cache.put("a", b"body")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cached", "young.new"]


def test_above_its_size_the_cache_forgets_what_was_used_longest_ago(tmp_path: Path) -> None:
    """The bound holds, and what was just found stays."""
    cache = Cache(str(tmp_path), max_bytes=3_500)
    for number, name in enumerate("abc"):
        cache.put(name, bytes(1_000))
        os.utime(tmp_path / f"{name}.cached", (1_000 + number,) * 2)
    assert cache.find("a") is not None
    cache.put("d", bytes(1_000))
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["a", "c", "d"]


def test_entries_are_private_to_their_owner(tmp_path: Path) -> None:
    """A folder that is made is made for its owner."""
    cache = Cache(str(tmp_path / "c"))
    cache.put("a", b"body")
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o700


def test_a_file_that_could_not_be_read_is_looked_at_again(tmp_path: Path) -> None:
    """Nothing about it may change when it can be read at last."""
    tree = write_tree(tmp_path / "shop", {**SHOP, "roles/gone.yaml": ""})
    (tree / "roles/gone.yaml").unlink()
    (tree / "roles/gone.yaml").symlink_to(tree / "later.txt")
    request = resolve_paths(["."], str(tree))
    loader = Loader(request, {}, Cache(str(tmp_path / "c")))
    assert "ORG001" in {found.code for found in loader.load().diagnostics}
    loader.save()
    (tree / "later.txt").write_text("_schema: orgkernel:role_profile\nrole_id: later\n")
    for again in (loader, Loader(request, {}, Cache(str(tmp_path / "c")))):
        assert pack_snapshot(again.load()) == pack_snapshot(Loader(request, {}).load())


def test_the_console_script_fills_and_uses_the_cache(shop: Path) -> None:
    """Once read, twice the same bytes, and nothing on stderr."""
    command = [ORGKERNEL, "manifest", "dev", "--org", "shop", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    first, second = (
        subprocess.run(command, cwd=shop, capture_output=True, check=True, env=environment) for _ in range(2)
    )
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)
    assert second.stderr == b""
    assert [path.name.partition("-")[0] for path in cached(shop)] == ["code", "last", "snapshot", "tree"]
