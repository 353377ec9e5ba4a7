"""What of a package manifest says what is installed: pairs of manifests that differ in it, and that do not."""

from __future__ import annotations

import pytest

from orgkernel.decisions.ownership.dependency_blocks import did_dependencies_change

GO = """module example.org/shop

go 1.21

require (
\tgithub.com/a/b v1.2.3 // why
\tgithub.com/c/d v0.1.0 // indirect
)
exclude github.com/a/b v1.2.0
"""
NPM = '{"name": "shop", "version": "1.0.0", "scripts": {"test": "x"}, "dependencies": {"a": "1", "b": "2"}}'
PY = """[build-system]
requires = ["hatchling"]
[project]
name = "shop"
version = "1.0"
dynamic = ["version"]
dependencies = ["a>=1"]
optional-dependencies.dev = ["b"]
[dependency-groups]
test = ["pytest"]
[tool.ruff]
line-length = 100
[tool.poetry]
version = "1"
dependencies.a = "1"
[tool.uv]
sources.a = {path = "../a"}
[tool.hatch.envs.test]
dependencies = ["x"]
scripts.run = "y"
"""
CARGO = """[package]
name = "shop"
version = "1.0.0"
[dependencies]
a = "1"
[target.'cfg(unix)'.dependencies]
b = "1"
[workspace.dependencies]
c = "1"
[features]
x = []
"""

SAME = [
    ("package.json", NPM, NPM.replace('"1.0.0"', '"2.0.0"')),
    ("package.json", NPM, NPM.replace('"x"', '"rm -rf"')),
    ("package.json", NPM, NPM.replace('"a": "1", "b": "2"', '"b": "2", "a": "1"')),
    ("package.json", NPM, "\ufeff" + NPM),
    ("package.json", "{}", '{"devDependencies": {}}'),
    ("package.json", None, '{"name": "new"}'),
    ("pyproject.toml", PY, PY.replace('version = "1.0"', 'version = "2.0"')),
    ("pyproject.toml", PY, PY.replace("100", "120").replace('run = "y"', 'run = "z"')),
    ("pyproject.toml", PY, PY.replace('version = "1"\n', 'version = "2"\n')),
    ("pyproject.toml", PY, PY.replace('dynamic = ["version"]', 'dynamic = ["version", "readme"]')),
    ("cargo.toml", CARGO, CARGO.replace("1.0.0", "2.0.0").replace("x = []", 'x = ["y"]')),
    ("go.mod", GO, GO.replace("go 1.21", "go 1.22").replace("// why", "").replace("// indirect", "")),
    (
        "go.mod",
        GO,
        GO.replace("\tgithub.com/c/d v0.1.0 // indirect\n", "") + "require github.com/c/d v0.1.0\n",
    ),
    ("go.mod", GO, GO.replace("\n", "\r\n")),
]
DIFFERENT = [
    ("package.json", NPM, NPM.replace('"a": "1"', '"a": "2"')),
    *(
        ("package.json", NPM, NPM[:-1] + f', "{block}": {{"z": "1"}}}}')
        for block in (
            "devDependencies",
            "peerDependencies",
            "optionalDependencies",
            "overrides",
            "resolutions",
            "pnpm",
        )
    ),
    ("package.json", NPM, NPM[:-1] + ', "packageManager": "npm@9"}'),
    ("package.json", NPM, NPM[:-1]),
    ("package.json", NPM, NPM[:-1] + ', "dependencies": {"a": "1", "b": "2"}}'),
    ("package.json", "[]", "[]"),
    ("package.json", NPM, "[" * 100_000),
    ("package.json", NPM, NPM + "\udcff"),
    ("package.json", '{"dependencies": {"a": 1}}', '{"dependencies": {"a": true}}'),
    ("package.json", NPM, None),
    ("pyproject.toml", PY, PY.replace("hatchling", "setuptools")),
    ("pyproject.toml", PY, PY.replace("a>=1", "a>=2")),
    ("pyproject.toml", PY, PY.replace('["b"]', '["c"]')),
    ("pyproject.toml", PY, PY.replace('["pytest"]', '["pytest", "evil"]')),
    ("pyproject.toml", PY, PY.replace('dependencies.a = "1"', 'dependencies.a = "2"')),
    ("pyproject.toml", PY, PY.replace("../a", "../b")),
    ("pyproject.toml", PY, PY.replace('dependencies = ["x"]', 'dependencies = ["z"]')),
    ("pyproject.toml", PY, PY.replace('dynamic = ["version"]', 'dynamic = ["dependencies"]')),
    ("pyproject.toml", PY, PY + "[tool.pdm]\nsource = [{url = 'x'}]\n"),
    ("pyproject.toml", PY, PY + "["),
    ("pyproject.toml", 'project = "x"', 'project = "x"'),
    ("cargo.toml", CARGO, CARGO.replace('a = "1"', 'a = "2"')),
    ("cargo.toml", CARGO, CARGO.replace('b = "1"', 'b = "2"')),
    ("cargo.toml", CARGO, CARGO.replace('c = "1"', 'c = "2"')),
    ("cargo.toml", CARGO, CARGO + '[dev-dependencies]\nz = "1"\n'),
    ("cargo.toml", CARGO, CARGO + '[patch.crates-io]\nz = {path = "../z"}\n'),
    ("go.mod", GO, GO.replace("v1.2.3", "v1.2.4")),
    ("go.mod", GO, GO + "replace github.com/a/b => ../b\n"),
    ("go.mod", GO, GO + "toolchain go1.99.0\n"),
    ("go.mod", GO, GO + 'require "github.com/z/z" v1.0.0\n'),
    ("go.mod", GO, GO + "require(\n\tgithub.com/z/z v1.0.0\n)\n"),
    ("go.mod", GO, GO + "strange github.com/z/z\n"),
    ("go.mod", GO, GO + "require (\n"),
    ("go.mod", GO, GO + 'require "github.com\n'),
]


@pytest.mark.parametrize(("name", "before", "after"), SAME)
def test_the_same_is_installed(name: str, before: str | None, after: str | None) -> None:
    """In both directions, a change elsewhere in the file is no change of dependencies."""
    assert not did_dependencies_change(("web", name), before, after)
    assert not did_dependencies_change(("web", name), after, before)


@pytest.mark.parametrize(("name", "before", "after"), DIFFERENT)
def test_another_package_is_installed_or_it_is_unknown(
    name: str, before: str | None, after: str | None
) -> None:
    """In both directions."""
    assert did_dependencies_change(("web", name), before, after)
    assert did_dependencies_change(("web", name), after, before)
