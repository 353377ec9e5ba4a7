"""Encoded manifests in process: the same bytes, of the version that answers, in bounded room."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from orgkernel.errors import UnknownRole
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.manifest_cache import ManifestCache
from orgkernel.manifest.v1 import encode
from tests.support.trees import TEMPLATES, change_line, copy_template

ORG, ROLE = "software_dev", "codegen_specialist"


def test_bytes_are_those_of_the_manifest() -> None:
    """The first time, and when they are kept."""
    kernel = Kernel.open(TEMPLATES)
    for org, served in kernel.state.served.items():
        for role in served.snapshot.index.roles:
            wanted = encode(kernel.manifest(org, role))
            first = kernel.manifest_bytes(org, role)
            assert first == wanted
            assert kernel.manifest_bytes(org, role) is first


def test_unknown_role_raises_every_time() -> None:
    """Refusals are not kept."""
    kernel = Kernel.open(TEMPLATES)
    for _ in range(2):
        with pytest.raises(UnknownRole):
            kernel.manifest_bytes(ORG, "nobody")
    assert len(kernel._kept) == 0


def test_reload_drops_them(tmp_path: Path) -> None:
    """After an edit the new version answers."""
    folder = copy_template(tmp_path / ORG, ORG)
    kernel = Kernel.open(folder)
    kernel.manifest_bytes(ORG, ROLE)
    change_line(folder / f"roles/{ROLE}.yaml", "role_name: Codegen Specialist", "role_name: Code Writer")
    kernel.reload()
    assert b'"role_name":"Code Writer"' in kernel.manifest_bytes(ORG, ROLE)


def test_room_is_bounded() -> None:
    """The oldest go first; what would fill a quarter is not kept; another state starts anew."""
    kept, state = ManifestCache(10_000), object()
    for number in range(100):
        kept.put(state, number, b"x" * 700)
    assert len(kept) == 10
    assert kept.find(state, 99) == b"x" * 700
    assert kept.find(state, 0) is None
    kept.put(state, "large", b"x" * 5_000)
    assert kept.find(state, "large") is None
    other = object()
    assert kept.find(other, 99) is None
    kept.put(other, 1, b"y")
    assert (len(kept), kept.find(state, 99)) == (1, None)


def test_threads_may_ask_at_once() -> None:
    """Many threads over few places end with the right bytes and within the room."""
    kept, states = ManifestCache(20_000), [object(), object()]
    wrong: list[object] = []

    def work(seed: int) -> None:
        for turn in range(2_000):
            state = states[turn // 500 % 2]
            question = (seed * 31 + turn) % 97
            found = kept.find(state, question)
            if found is None:
                kept.put(state, question, str(question).encode() * 100)
            elif found != str(question).encode() * 100:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sum(len(each) + 300 for each in kept._held[1].values()) <= 20_000
