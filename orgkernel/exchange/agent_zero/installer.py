"""Install the extension into a host, upgrade it or remove it. Nothing is activated by this.

A journal, `usr/organizations/lib/orgkernel_agent_zero/installed.json`, lists every file that was written. Paths in it that
the installer could not have written are ignored. Agents can change the host's files, and plant links among them, so they are reached through
`ConfinedFolder`. Only the standard library is needed: `extension/install_org_kernel.sh` runs this module on machines without
orgkernel's dependencies.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from orgkernel.errors import UsageError
from orgkernel.exchange.agent_zero.host import FIRST, THIRD, Generation, find_generation, open_host
from orgkernel.exchange.agent_zero.owned_files import OwnedFiles
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.version import __version__

ORGANIZATIONS = "usr/organizations"
LIBRARY = f"{ORGANIZATIONS}/lib/orgkernel_agent_zero"
INSTALLED = f"{LIBRARY}/installed.json"
PLUGIN = "usr/plugins/orgkernel"
SCHEMA = "orgkernel:installation"
_ORGANIZATION_FILE = re.compile(
    rf"{ORGANIZATIONS}/(?:bundles/)?(?!active\.json|activation\.json|status\.json|effect\.json)[^/]+\.json"
)
_WRITTEN_WHILE_RUNNING = tuple(
    f"{ORGANIZATIONS}/{name}" for name in ("status.json", "effect.json", ".effect.json.new")
)
"""Files other than reports that the extension writes while it runs."""
_SHIM = re.compile(r"(?:usr|python)/extensions/[a-z_]+/_[0-9]{2}_org_[a-z_]+\.py")

SELECTOR = "_15_htn_plan_selector.py"
BACKUP = ".before-orgkernel"
_SEARCHED_DEPTH = 9
_MARK = "# orgkernel: only plans of the active role"
_ALLOWED = "_org_htn_allowed_plans"
_READS_LIBRARY = re.compile(r"^( *)library = _load_library\(self\.agent\)[ \t]*$", re.MULTILINE)
_FILTER = (
    'library = {**library, "plans": {k: v for k, v in library.get("plans", {}).items() '
    f'if k in self.agent.get_data("{_ALLOWED}")}}}} '
    f'if library and self.agent.get_data("{_ALLOWED}") is not None else library  {_MARK}'
)
_RUNTIME = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "runtime"
)
Say = Callable[[str], None]


def install(root: str, extension: str, say: Say, *, dry_run: bool = False) -> None:
    """Install or upgrade from the folder `extension`; raises `UsageError`.

    A foreign file in the way is an error. Organizations that users changed are kept. After an error in the middle, installing again
    finishes, and uninstalling removes everything that was written.
    """
    with _open_for_change(root) as tree:
        generation = find_generation(tree)
        owned = open_installed(tree)
        contents = _read_sources(generation, extension)
        plan = {
            path: content for path, content in contents.items() if _may_write(tree, owned, path, content, say)
        }
        say(
            f"Agent-Zero {generation.name} ({generation.words}) in {os.path.realpath(root)}, orgkernel {__version__}"
        )
        stale = [path for path in owned.journal.files if path not in contents]
        if dry_run:
            for path, content in plan.items():
                if tree.read(path) != content:
                    say(f"would write {path}")
            for path in stale:
                _remove(tree, owned, path, say, dry_run=True)
        else:
            _write(tree, owned, plan, stale, say)
        _filter_plans(tree, say, dry_run=dry_run)
        if not dry_run:
            _say_what_is_next(tree, say)


def uninstall(root: str, say: Say, *, dry_run: bool = False) -> None:
    """Remove what was installed; raises `UsageError`. Documents that users changed are kept."""
    with _open_for_change(root) as tree:
        find_generation(tree)
        owned = open_installed(tree)
        if not owned.journal.files:
            say(f"nothing is installed in {os.path.realpath(root)}")
            _unfilter_plans(tree, say, dry_run=dry_run)
            return
        # Files that the host calls are removed first, then the modules that they import.
        for path in sorted(owned.journal.files, key=lambda path: "/extensions/" not in path):
            _remove(tree, owned, path, say, dry_run=dry_run)
        _unfilter_plans(tree, say, dry_run=dry_run)
        for path in (*_WRITTEN_WHILE_RUNNING, *_find_toggles(tree)):
            if tree.exists(path):
                say(f"{'would ' * dry_run}remove {path}")
                if not dry_run:
                    tree.remove(path)
        if not dry_run:
            for place in _find_plugin_settings(tree):
                if tree.remove_folder(place):
                    tree.remove_folder(place.rpartition("/")[0])
            for folder in (*owned.journal.folders, LIBRARY):
                if folder.startswith((LIBRARY, PLUGIN)):
                    _clear_compiled(tree, f"{folder}/*.py")
            owned.settle({})
            say(f"uninstalled from {os.path.realpath(root)}")
        for name in ("active.json", "active.json.off"):
            if not tree.exists(f"{ORGANIZATIONS}/{name}"):
                continue
            say(
                f"note: {name} is kept; to remove what activation wrote, run: "
                "orgkernel host deactivate --agent-zero ROOT"
            )
        if tree.exists(f"{ORGANIZATIONS}/reports"):
            say(f"note: {ORGANIZATIONS}/reports contains reports and is kept")


def _find_plugin_settings(tree: ConfinedFolder) -> Iterator[str]:
    """The folders in which a host keeps whether this plugin is on for a profile or a project."""
    projects = [f"usr/projects/{name}/.a0proj" for name in tree.names("usr/projects")]
    for folder in ("agents", "usr/agents", *(f"{project}/agents" for project in projects)):
        for profile in tree.names(folder):
            yield f"{folder}/{profile}/plugins/orgkernel"
    for project in projects:
        yield f"{project}/plugins/orgkernel"


def _find_toggles(tree: ConfinedFolder) -> Iterator[str]:
    """The files by which a host remembers that a user switched the plugin on or off."""
    for place in (PLUGIN, *_find_plugin_settings(tree)):
        for name in (".toggle-0", ".toggle-1"):
            if tree.is_file(f"{place}/{name}"):
                yield f"{place}/{name}"


@contextmanager
def _open_for_change(root: str) -> Iterator[ConfinedFolder]:
    """Open the folder of a host for one installer at a time. Raises `UsageError` if a file cannot be written."""
    try:
        with open_host(root) as tree, tree.locked():
            yield tree
    except OSError as error:
        where = error.filename2 or error.filename or "a file"
        raise UsageError(
            f"{where} cannot be written: {error.strerror or error}",
            "fix the cause and run this again; nothing was activated",
        ) from error


def open_installed(tree: ConfinedFolder) -> OwnedFiles:
    """The files that were installed."""
    return OwnedFiles(tree, INSTALLED, SCHEMA, _may_own)


def _may_own(path: str) -> bool:
    """Whether an installer of any version writes files of this name."""
    ours = path.startswith((f"{LIBRARY}/", f"{PLUGIN}/")) and path != INSTALLED
    return ours or bool(_ORGANIZATION_FILE.fullmatch(path) or _SHIM.fullmatch(path))


# -- what is written ---------------------------------------------------------------------------------------------------


def _read_sources(generation: Generation, extension: str) -> dict[str, bytes]:
    """Every file to be installed with its content. Those that the host calls come last."""
    shims = "python/extensions" if generation is FIRST else "usr/extensions"
    if generation is THIRD:
        shims = f"{PLUGIN}/extensions/python"
    planned: list[tuple[str, str]] = []
    for folder, target, ending in (
        (_RUNTIME, f"{LIBRARY}/runtime", ".py"),
        (_RUNTIME, f"{LIBRARY}/runtime", ".bin"),
        (_RUNTIME, f"{LIBRARY}/runtime", ".json"),
        (os.path.join(extension, "host"), LIBRARY, ".py"),
        (os.path.join(extension, "organizations"), ORGANIZATIONS, ".json"),
        (os.path.join(extension, "organizations", "bundles"), f"{ORGANIZATIONS}/bundles", ".json"),
    ):
        names = (name for name in sorted(os.listdir(folder)) if name.endswith(ending))
        # The folder `runtime` takes the place of the module `runtime.py`.
        planned += (
            (os.path.join(folder, name), f"{target}/{name}")
            for name in names
            if f"{target}/{name}" != f"{LIBRARY}/runtime.py"
        )
    if generation is THIRD:
        plugin = os.path.join(extension, "plugin")
        planned += ((file, f"{PLUGIN}/{name}") for file, name in _list_files_below(plugin))
    planned += (
        (file, f"{shims}/{name}") for file, name in _list_files_below(os.path.join(extension, "shims"))
    )
    contents = {}
    for file, target in planned:
        with open(file, "rb") as source:
            contents[target] = source.read()
    return contents


def _list_files_below(folder: str) -> Iterator[tuple[str, str]]:
    """The files below a folder of the extension, with their paths in it."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(names):
            file = os.path.join(where, name)
            yield file, os.path.relpath(file, folder).replace(os.sep, "/")


def _may_write(tree: ConfinedFolder, owned: OwnedFiles, path: str, content: bytes, say: Say) -> bool:
    """Whether a file can be written. Raises `UsageError` if a foreign file has its name."""
    current_content = tree.read(path)
    if not tree.exists(path) or current_content == content or owned.is_ours(path):
        return True
    if _ORGANIZATION_FILE.fullmatch(path):
        say(f"note: {path} was changed after installation and is kept")
        return False
    if current_content is None or path not in owned.journal.files:
        raise UsageError(
            f"other files are in the way: {path}",
            "move them away, or remove an older version of the extension first",
        )
    return True


def _write(
    tree: ConfinedFolder, owned: OwnedFiles, plan: dict[str, bytes], stale: list[str], say: Say
) -> None:
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in (INSTALLED, *plan)):
        if not tree.is_writable(folder):
            raise UsageError(
                f"{os.path.join(tree.root, folder)} cannot be written to",
                "run this as the user that runs Agent-Zero",
            )
    kept = [path for path in owned.journal.files if path not in plan and path not in stale]
    owned.announce(plan, {"version": __version__})
    for path, content in plan.items():
        if tree.read(path) != content:
            owned.write(path, content)
            _clear_compiled(tree, path)
            say(f"wrote {path}")
    kept += (path for path in stale if not _remove(tree, owned, path, say, dry_run=False))
    owned.settle(plan, kept)


def _remove(tree: ConfinedFolder, owned: OwnedFiles, path: str, say: Say, *, dry_run: bool) -> bool:
    """Remove an installed file, unless it is a document that was changed. Whether it is gone."""
    if not tree.exists(path):
        if not dry_run:
            tree.remove(path)  # also a temporary file that an interrupted run left
        return True
    if _ORGANIZATION_FILE.fullmatch(path) and not owned.is_ours(path):
        say(f"note: {path} was changed after installation and is kept")
        return False
    say(f"{'would ' * dry_run}remove {path}")
    if not dry_run:
        tree.remove(path)
        _clear_compiled(tree, path)
    return True


def _clear_compiled(tree: ConfinedFolder, path: str) -> None:
    """Remove the compiled Python files of a file, or of a folder (`FOLDER/*.py`), because Python could run them
    instead.
    """
    folder, _, name = path.rpartition("/")
    if not name.endswith(".py"):
        return
    compiled = f"{folder}/__pycache__"
    module = name.removesuffix(".py")
    for each in tree.names(compiled):
        if each.endswith(".pyc") and (module == "*" or each.startswith(f"{module}.")):
            tree.remove(f"{compiled}/{each}")
    tree.remove_folder(compiled)


def _say_what_is_next(tree: ConfinedFolder, say: Say) -> None:
    say("")
    if tree.exists(f"{ORGANIZATIONS}/active.json"):
        say(
            "Installed. The organization in active.json stays active. Restart a running Agent-Zero to load new files."
        )
        return
    root = os.path.realpath(tree.root)
    folder = os.path.join(root, ORGANIZATIONS)
    say("Installed. No organization is active. To activate one, run")
    say(f"    orgkernel host activate software_dev --agent-zero {_quote_path(root)}")
    say("or, if orgkernel is not installed on this machine,")
    say(f"    cp {_quote_path(f'{folder}/software_dev.json')} {_quote_path(f'{folder}/active.json')}")
    say("Restart a running Agent-Zero to load new files.")


def _quote_path(path: str) -> str:
    """A path to paste into a shell."""
    return shlex.quote(path) if "'" in path else f"'{path}'"


# -- the plan filter ---------------------------------------------------------------------------------------------------


def _list_selectors(tree: ConfinedFolder) -> Iterator[tuple[str, str]]:
    """The files of a host that choose a plan for a message, with their contents. They belong to a layer of the host that plans tasks."""
    for path in tree.walk("", _SEARCHED_DEPTH):
        if path.endswith(f"/before_main_llm_call/{SELECTOR}") and (content := tree.read(path)) is not None:
            yield path, content.decode("utf-8", "surrogateescape")


def _filter_plans(tree: ConfinedFolder, say: Say, *, dry_run: bool) -> None:
    """Add a line after a selector reads its library of plans: it keeps only the plans of the active role, or all without one."""
    for path, text in _list_selectors(tree):
        if _ALLOWED in text:
            continue
        if len(_READS_LIBRARY.findall(text)) != 1:
            say(f"note: {path} does not filter plans by role, and its form is unknown; it was not changed")
            continue
        say(f"{'would ' * dry_run}add one marked line to {path}, and keep a backup in {SELECTOR}{BACKUP}")
        if not dry_run:
            filtered = _READS_LIBRARY.sub(lambda match: f"{match[0]}\n{match[1]}{_FILTER}", text)
            for name, content in ((f"{path}{BACKUP}", text), (path, filtered)):
                tree.write(name, content.encode("utf-8", "surrogateescape"))
            _clear_compiled(tree, path)


def _unfilter_plans(tree: ConfinedFolder, say: Say, *, dry_run: bool) -> None:
    for path, text in _list_selectors(tree):
        if _MARK not in text:
            continue
        say(f"{'would ' * dry_run}remove the marked line from {path}")
        if not dry_run:
            lines = (line for line in text.splitlines(keepends=True) if _MARK not in line)
            content = "".join(lines).encode("utf-8", "surrogateescape")
            tree.write(path, content)
            if tree.read(f"{path}{BACKUP}") == content:  # a backup is removed only if it equals the file
                tree.remove(f"{path}{BACKUP}")
            _clear_compiled(tree, path)


# -- run by the script -------------------------------------------------------------------------------------------------

_USAGE = """\
Usage: install_org_kernel.sh [--dry-run] [--uninstall] ROOT

Install or upgrade the extension of orgkernel in the Agent-Zero in the folder ROOT (/a0 in its image).

  --dry-run     print what would be done and change nothing
  --uninstall   remove everything that was installed
"""


def main(arguments: Sequence[str]) -> int:
    """Run the installer with its arguments, of which the first is the folder `extension`. Returns the exit code."""
    extension, *given = arguments
    options = {each for each in _list_options(given) if each in ("--dry-run", "--uninstall", "-h", "--help")}
    roots = [each for number, each in enumerate(given) if each[:1] != "-" or "--" in given[:number]]
    unknown = [each for each in _list_options(given) if each not in options]
    if options & {"-h", "--help"}:
        sys.stdout.write(_USAGE)
        return 0
    if unknown or len(roots) != 1:
        wrong = f"unknown option: {unknown[0]}" if unknown else "ROOT is missing"
        if len(roots) > 1 and not unknown:
            wrong = f"more than one ROOT given: {roots[0]} and {roots[1]}"
        return _report_failure(wrong, "", 2, _USAGE)
    dry_run = "--dry-run" in options
    try:
        if "--uninstall" in options:
            uninstall(roots[0], _print, dry_run=dry_run)
        else:
            install(roots[0], extension, _print, dry_run=dry_run)
    except UsageError as error:
        return _report_failure(error.message, error.help, 1)
    return 0


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _list_options(given: Iterable[str]) -> Iterator[str]:
    """The options before `--`."""
    for each in given:
        if each == "--":
            return
        if each[:1] == "-":
            yield each


def _report_failure(message: str, help: str, code: int, usage: str = "") -> int:
    sys.stderr.write(f"{usage}error: {message}\n" + (f"help: {help}\n" if help else ""))
    return code
