"""Types are decoded by several threads at once, for the first time, without a crash."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

PROGRAM = """
import sys, threading
sys.setswitchinterval(1e-6)
import msgspec
from orgkernel.prepared_types import prepared

for number in range(60):
    inner = msgspec.defstruct("Inner", [("names", tuple[str, ...], ()), ("sizes", dict[str, float], {})])
    outer = msgspec.defstruct("Outer", [("one", inner | None, None), ("many", tuple[inner, ...], ())])
    gate = threading.Barrier(6)
    def work():
        gate.wait()
        msgspec.convert({"one": {"names": ["a"]}, "many": [{}]}, prepared(outer))
        msgspec.convert({"sizes": {"a": 1.0}}, prepared(inner))
    threads = [threading.Thread(target=work) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
print("done")
"""
PLAIN = {"str", "bytes", "int", "dict[str, Any]"}
_WITH_TYPE = {"msgspec.convert": 1, "msgspec.json.decode": 1, "msgspec.msgpack.decode": 1}
_DECODERS = {"msgspec.json.Decoder": 0, "msgspec.msgpack.Decoder": 0}


def test_threads_that_decode_a_type_first_do_not_crash() -> None:
    """Without preparing it, the process ends with a segmentation fault almost every time."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=False,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=PATIENCE,
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


def test_every_type_that_is_decoded_is_prepared() -> None:
    """Wherever the product decodes into a type of its own."""
    raw = []
    for top in ("orgkernel", "manifest_api"):
        for path in sorted((REPOSITORY / top).rglob("*.py")):
            if path.name != "prepared_types.py":
                raw += [f"{path}: {kind}" for kind in types_decoded_in(path.read_text(encoding="utf-8"))]
    assert raw == []


def test_a_type_that_is_not_prepared_would_be_seen() -> None:
    """In every form in which a type can be given."""
    source = "msgspec.convert(x, A)\nmsgspec.json.decode(x, type=B)\nmsgspec.json.Decoder(C)\nmsgspec.convert(x, prepared(D))\n"
    assert types_decoded_in(source) == ["A", "B", "C"]


def types_decoded_in(source: str) -> list[str]:
    """The types that a module decodes into without preparing them."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        place = (_WITH_TYPE | _DECODERS).get(ast.unparse(node.func))
        if place is None:
            continue
        named = [each.value for each in node.keywords if each.arg == "type"]
        given = named or node.args[place : place + 1]
        found += [ast.unparse(each) for each in given]
    return [each for each in found if not each.startswith("prepared(") and each not in PLAIN]
