"""Finds every source of agents in and below a folder, in any format and at any depth.

One bounded walk lists the folders. Folders that git ignores, dependencies and hidden folders of other programs are not
entered. Formats recognize their sources by names and by the beginnings of files.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from orgkernel.loading.files import (
    MARKDOWN,
    SKILL_FILE,
    SKIPPED_FOLDERS,
    Root,
    does_exist,
    find_real_files,
    is_file,
    is_folder,
    list_entries_in,
    list_files_in,
    read_head,
)
from orgkernel.loading.formats import FORMATS
from orgkernel.loading.formats.claude_code.beginnings import begins_like_agent, can_be_agent
from orgkernel.loading.formats.claude_code.discovery import find_claude_sources
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.listing import FolderListing, LeftOut, SourceFound
from orgkernel.loading.shipped_tables import read_shipped_table
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.progress import end_stages, enter_stage

MAX_FOLDERS = 20_000
"""The number of folders that are searched below a folder."""
MAX_LEVELS = 16
"""The number of levels of folders that are searched."""
# Hidden folders in which hosts look for agents.
HOST_FOLDERS = frozenset(
    {".agents", ".claude", ".claude-plugin", ".codex", ".cursor", ".gemini", ".github", ".kiro", ".opencode", ".vscode", ".well-known"}
)  # fmt: skip
_DEPENDENCIES = SKIPPED_FOLDERS | {
    "bower_components", "Pods", "site-packages", "third_party", "vendor", "venv",
}  # fmt: skip
_ENVIRONMENT = "pyvenv.cfg"
_IGNORE = ".gitignore"
_IGNORE_SIZE = 64 * 1024
# What a folder with these names holds for a host: worth naming when it is left out.
_SHOWS_AGENTS = (
    ".claude-plugin",
    *(
        os.path.join(host, "agents")
        for host in (".claude", ".codex", ".cursor", ".gemini", ".github", ".kiro", ".opencode")
    ),
    os.path.join(".opencode", "agent"),
)
_MAX_INDEX = 64 * 1024 * 1024
"""The size of the index of git up to which it is searched for files that are tracked although a pattern ignores them."""


class Discovery(NamedTuple):
    """The sources of a folder."""

    sources: tuple[SourceFound, ...]
    left_out: tuple[LeftOut, ...]
    """What looks like agents and is not read, with the reason."""


class _Markers(NamedTuple):
    """Names that a folder must contain, or have itself, to be a source of a format."""

    files: frozenset[str] = frozenset()
    suffixes: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()

    def show(self, listing: FolderListing) -> bool:
        """Whether the folder could be a source."""
        return (
            (bool(self.own) and os.path.basename(listing.path) in self.own)
            or not self.files.isdisjoint(listing.files)
            or not self.folders.isdisjoint(listing.folders)
            or (
                bool(self.suffixes)
                # A skill is not an agent, and opening each skill of a tree once more takes time.
                and any(name.endswith(self.suffixes) and name != SKILL_FILE for name in listing.files)
            )
        )


_ROO_MODES = ".roomodes"
_MARKERS: Mapping[str, _Markers] = {
    "copilot": _Markers(suffixes=(".agent.md", ".chatmode.md"), folders=frozenset({".github"})),
    "opencode": _Markers(
        files=frozenset({"opencode.json", "opencode.jsonc"}),
        suffixes=(MARKDOWN,),
        folders=frozenset({".opencode"}),
    ),
    "codex": _Markers(suffixes=(".toml",), folders=frozenset({".codex"})),
    "gemini-cli": _Markers(files=frozenset({"gemini-extension.json"}), folders=frozenset({".gemini"})),
    "cursor": _Markers(folders=frozenset({".cursor"})),
    "kiro": _Markers(folders=frozenset({".kiro"})),
    "roo": _Markers(files=frozenset({_ROO_MODES})),
    "crewai": _Markers(
        files=frozenset({"agents.yaml", "agents.yml", "crew.json", "crew.jsonc"}),
        folders=frozenset({"config", "crews", "src"}),
    ),
    "agent-zero": _Markers(folders=frozenset({"agents", "usr"}), own=frozenset({"agents"})),
    "probos": _Markers(files=frozenset({"organization.yaml"}), folders=frozenset({"config", "ontology"})),
    "adk": _Markers(files=frozenset({"root_agent.yaml", "root_agent.yml"})),
    "agent-framework": _Markers(suffixes=(".yaml", ".yml")),
    "agent-format": _Markers(suffixes=(".agf.yaml", ".agf.yml")),
    "autogen": _Markers(suffixes=(".json",)),
    "agent-spec": _Markers(suffixes=(".yaml", ".yml", ".json")),
    "a2a": _Markers(suffixes=(".json",), folders=frozenset({".well-known"})),
    "skills": _Markers(folders=frozenset({"skills", ".agents", ".claude"}), own=frozenset({"skills"})),
    "mcp": _Markers(
        files=frozenset({".mcp.json", "mcp.json", "mcp-tools.json"}), folders=frozenset({".vscode"})
    ),
}
"""Markers of the formats whose recognition reads files. A format without markers looks at every folder."""
_CLAUDE = "claude-code"
_SKILLS = "skills"
# Formats whose sources are whole hosts: below one, nothing else is read, such as the profiles that come with it.
_WHOLE_HOSTS = frozenset({"agent-zero"})
_INSTRUCTIONS = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", "copilot-instructions.md"})
_RULES = ".mdc"
_HEAD, _MAX_HEADS = 4 * 1024, 1_000
_AGENT_FOLDERS = ("agents", "agent", "subagents", "sub-agents")
_MARKDOWN_NAME = lazy_pattern(r"[^.].*\.md")
_IGNORED = "git ignores it"
_MAX_OPENED = 50
_MAX_FILES_NAMED = 3
"""The number of files of a folder that are named one by one, if the same is true of them."""
_UNREAD_HOSTS = os.path.join(os.path.dirname(__file__), "unread_hosts.yaml")
_UNREAD_KIND = lazy_pattern(
    rb"(?m)^kind:[ \t]*(Workflow)\b(?=[\s\S]*^(?:trigger|actions):)|^kind:[ \t]*(hosted)\b"
)
_UNREAD_KINDS = {
    b"Workflow": "it is a workflow of the Agent Framework, which runs agents by their names, and declares none",
    b"hosted": "it is a hosted agent of the Agent Framework, whose tools are in its code",
}
# A host that reads the files of a folder, and none below it.
_FLAT = os.path.join(os.sep + ".gemini", "agents", "")
_NOWHERE = "it begins like an agent, and no host looks for agents there under this name (letter case counts)"
_ONLY_INSTRUCTIONS = "it has instructions for agents, and declares none"
_NO_MODES = "it has no `customModes`, which Roo Code reads"
_COMMAND = "it is a command, which a user starts, and not an agent"
_OTHER_KEYS = "its front matter has no `name` and `description` of an agent"
_BY_NEARNESS = (_NOWHERE, _ONLY_INSTRUCTIONS, _COMMAND, _OTHER_KEYS)
_COMMAND_FOLDERS = frozenset({"command", "commands", "prompts", "workflows"})


def discover(top: str, only: str | None = None) -> Discovery:
    """The sources in and below a folder, sorted by format and place. With `only`, the sources of that format."""
    enter_stage("looking for agents")
    with end_stages():
        return _discover(top, only)


def _discover(top: str, only: str | None) -> Discovery:
    left_out: list[LeftOut] = []
    folders = list(_list_folders(top, left_out))
    enter_stage(f"looking for agents in {len(folders):,} folders")
    sources: list[SourceFound] = []
    claimed: set[str] = set()
    for name in FORMATS:
        if only is not None and name not in (only, _CLAUDE):
            continue
        if name == _CLAUDE:
            of_markdown = find_claude_sources(top, folders, left_out, is_certain=only == _CLAUDE)
            candidates: Iterable[SourceFound] = (each for each in of_markdown if only in (None, each.format))
        else:
            candidates = _find_by_folder(name, folders)
        for source in candidates:
            files = list_files(source.layout)
            # Formats share files (a skill of a plugin). The first format that reads all of them has them.
            if not files <= claimed:
                claimed |= files
                sources.append(source)
    if only is None:
        left_out += _find_below_flat_folders(folders)
        left_out += _find_unread_documents(folders)
        named = list(_find_unread_hosts(folders, always=True))
        places = {each.place for each in named}
        # A reason that is known for a host replaces the guess about a folder of an unknown one.
        left_out = [each for each in left_out if each.place not in places] + named
    if not sources:
        left_out += _find_nearest(folders)
        left_out += _find_unread_hosts(folders, always=False)
    return Discovery(tuple(_name_apart(top, sources)), tuple(left_out))


def _list_folders(top: str, left_out: list[LeftOut]) -> Iterator[FolderListing]:
    """The folders from the top downward, with the names in them. Links are not followed."""
    rules = _IgnoreRules(top)
    pending = [(top, 0)]
    count = 0
    while pending:
        folder, level = pending.pop()
        count += 1
        # Reported, because sources beyond the limit would otherwise be missing without a word.
        if count > MAX_FOLDERS:
            left_out.append(
                LeftOut(folder, f"more than {MAX_FOLDERS:,} folders; name the folders to read", "")
            )
            return
        files, folders, others = list_entries_in(folder)
        if _IGNORE in files:
            rules.add(folder)
        below = []
        for name in folders:
            path = os.path.join(folder, name)
            reason = _find_reason_to_skip(name, path, rules)
            if reason is None:
                below.append(name)
            elif not reason:
                left_out += _find_agents_of_unknown_host(path)
            elif _does_show_agents(path):
                if reason == _IGNORED and rules.is_tracked(path):
                    below.append(name)
                else:
                    left_out.append(LeftOut(path, reason, ""))
        others += (each for each in folders if each not in below)
        yield FolderListing(folder, tuple(files), tuple(below), tuple(others))
        if level < MAX_LEVELS:
            pending += ((os.path.join(folder, each), level + 1) for each in reversed(below))


def _find_reason_to_skip(name: str, path: str, rules: _IgnoreRules) -> str | None:
    """Why a folder is not entered. Empty for a hidden folder of another program; None if it is entered."""
    if name in _DEPENDENCIES or is_file(os.path.join(path, _ENVIRONMENT)):
        return "it is a folder of dependencies"
    if name.startswith(".") and name not in HOST_FOLDERS:
        return ""
    return _IGNORED if rules.does_ignore(path) else None


def _does_show_agents(path: str) -> bool:
    """Whether a folder that is not entered, or a hidden folder of a host, has agents where the host looks for them."""
    above, name = os.path.split(path)
    return any(
        is_folder(os.path.join(path, each))
        or (each.startswith(os.path.join(name, "")) and is_folder(os.path.join(above, each)))
        for each in _SHOWS_AGENTS
    )


def _find_agents_of_unknown_host(hidden: str) -> Iterator[LeftOut]:
    """The folders of agents in a hidden folder of a host that is not known. Their tools can have another meaning there,
    so they are named and not read.
    """
    for name in _AGENT_FOLDERS:
        folder = os.path.join(hidden, name)
        files = list_files_in(folder, _MARKDOWN_NAME)[:_MAX_OPENED] if is_folder(folder) else ()
        if any(
            can_be_agent(os.path.basename(each)) and begins_like_agent(read_head(each, _HEAD))
            for each in files
        ):
            reason = "it begins like agents of Claude Code, in the folder of a host that is not known; `--from claude-code` reads it"
            yield LeftOut(folder, reason, "")


class _IgnoreRules:
    """The `.gitignore` files between the top of the work tree and a folder."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._rules: list[tuple[str, object]] = []
        for folder in reversed(list(_iterate_work_tree(top))):
            if is_file(os.path.join(folder, _IGNORE)):
                self.add(folder)
        if self.does_ignore(top):  # the user names it all the same
            self._rules.clear()

    def add(self, folder: str) -> None:
        """Read the `.gitignore` of a folder."""
        from pathspec import GitIgnoreSpec  # few trees need it

        lines = read_head(os.path.join(folder, _IGNORE), _IGNORE_SIZE).decode(errors="replace").splitlines()
        try:
            self._rules.append((folder, GitIgnoreSpec.from_lines(lines)))
        except ValueError:  # a pattern that git does not understand either
            return

    def does_ignore(self, path: str) -> bool:
        """Whether git ignores a folder. The nearest file that mentions it decides."""
        for folder, spec in reversed(self._rules):
            inside = os.path.relpath(path, folder)
            if inside.startswith(os.pardir):
                continue
            result = spec.check_file(inside.replace(os.sep, "/") + "/")  # type: ignore[attr-defined]
            if result.include is not None:
                return bool(result.include)
        return False

    def is_tracked(self, path: str) -> bool:
        """Whether git tracks a file below a folder. A pattern does not ignore what was added before it, or by force."""
        work_tree = next(reversed([self._top, *_iterate_work_tree(self._top)]))
        index = os.path.join(work_tree, ".git", "index")
        if not is_file(index):
            return False
        prefix = (os.path.relpath(path, work_tree).replace(os.sep, "/") + "/").encode()
        return has_path_below(read_head(index, _MAX_INDEX), prefix)


def has_path_below(index: bytes, prefix: bytes) -> bool:
    r"""Whether the index of git (versions 2 and 3, which write each path in full) has a path that begins with the prefix.

    >>> entry = bytes(60) + b"\0\5a/b.c\0\0\0"
    >>> has_path_below(entry, b"a/"), has_path_below(entry, b"b/")
    (True, False)
    """
    at = index.find(prefix)
    while at > 1:
        # The two bytes before a path have its length, and a zero byte ends it: the prefix is not in the middle of a path.
        length = int.from_bytes(index[at - 2 : at], "big") & 0xFFF
        if length >= len(prefix) and index[at + length : at + length + 1] == b"\0":
            return True
        at = index.find(prefix, at + 1)
    return False


def _iterate_work_tree(top: str) -> Iterator[str]:
    """The folders above a folder, up to the top of its git work tree. Empty outside of one."""
    above: list[str] = []
    folder = top
    while not does_exist(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent
        above.append(folder)
    yield from above


def _find_by_folder(name: str, folders: Iterable[FolderListing]) -> Iterator[SourceFound]:
    """The sources of a format that recognizes single folders."""
    markers, form = _MARKERS.get(name), FORMATS[name]
    hosts: tuple[str, ...] = ()
    folders = list(folders)
    around_skills = _find_around_skills(folders) if name == _SKILLS else frozenset()
    for listing in folders:
        if listing.path.startswith(hosts):
            continue
        if markers is None or markers.show(listing) or listing.path in around_skills:
            layout = form.find(listing.path, is_certain=False)
            if layout is not None:
                if name in _WHOLE_HOSTS:
                    hosts = (*hosts, os.path.join(listing.path, ""))
                yield SourceFound(name, listing.path, layout, os.path.basename(layout.top))


def _find_around_skills(folders: Sequence[FolderListing]) -> frozenset[str]:
    """The folders that contain folders of skills, and the topmost folder if it is a skill itself. Skills inside of a
    skill belong to it.
    """
    around: set[str] = set()
    inside: tuple[str, ...] = ()
    for listing in folders:
        if SKILL_FILE in listing.files and not listing.path.startswith(inside):
            inside = (*inside, os.path.join(listing.path, ""))
            around.add(listing.path if listing is folders[0] else os.path.dirname(listing.path))
    return frozenset(around)


def _find_unread_documents(folders: Iterable[FolderListing]) -> Iterator[LeftOut]:
    """The YAML files of the Agent Framework that name agents and declare none of them completely."""
    heads = 0
    by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for listing in folders:
        for name in listing.files:
            if heads < _MAX_HEADS and name.endswith((".yaml", ".yml")):
                heads += 1
                path = os.path.join(listing.path, name)
                kind = _UNREAD_KIND.search(read_head(path, _HEAD))
                if kind is not None:
                    by_reason[_UNREAD_KINDS[kind[1] or kind[2]]][listing.path].append(path)
    for reason, paths in by_reason.items():
        yield from _group_left_out(reason, paths)


def _find_unread_hosts(folders: Iterable[FolderListing], *, always: bool) -> Iterator[LeftOut]:
    """The folders of hosts whose files are not read, with the reason."""
    table = [
        (str(each["folder"]).split("/"), str(each["reason"]))
        for each in read_shipped_table(_UNREAD_HOSTS)
        if each.get("always", False) is always
    ]
    for listing in folders:
        # The names are known, and asking the disk for each host in each folder takes much longer.
        names = {*listing.folders, *listing.others}
        for steps, reason in table if names else ():
            if steps[0] in names and is_folder(folder := os.path.join(listing.path, *steps)):
                yield LeftOut(folder, reason, "")


def _find_nearest(folders: Iterable[FolderListing]) -> Iterator[LeftOut]:
    """What comes nearest to agents in a tree without any: code of frameworks, instructions, and Markdown with front matter."""
    from orgkernel.loading.formats.code_frameworks import find_code_frameworks  # few trees need it

    folders = list(folders)
    yield from find_code_frameworks(folders)
    heads = 0
    by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for listing in folders:
        for name in listing.files:
            path = os.path.join(listing.path, name)
            if name == _ROO_MODES:
                yield LeftOut(path, _NO_MODES, "roo")
            elif name in _INSTRUCTIONS or name.endswith(_RULES):
                by_reason[_ONLY_INSTRUCTIONS][listing.path].append(path)
            elif name.casefold().endswith(MARKDOWN) and heads < _MAX_HEADS and _FLAT not in path:
                heads += 1
                head = read_head(path, _HEAD)
                if not head.startswith(b"---"):
                    continue
                is_command = not _COMMAND_FOLDERS.isdisjoint(listing.path.split(os.sep)[-2:])
                if is_command:
                    by_reason[_COMMAND][listing.path].append(path)
                else:
                    by_reason[_NOWHERE if begins_like_agent(head) else _OTHER_KEYS][listing.path].append(path)
    for reason in sorted(by_reason, key=_BY_NEARNESS.index):
        yield from _group_left_out(reason, by_reason[reason])


def _group_left_out(reason: str, paths: Mapping[str, Sequence[str]]) -> Iterator[LeftOut]:
    """A line for each file, or one for all files of a folder or of the tree if they are more than a few."""
    lines: list[LeftOut] = []
    for folder, files in paths.items():
        if len(files) > _MAX_FILES_NAMED:
            text = f"{len(files):,} files, such as `{os.path.basename(files[0])}`: {reason}"
            lines.append(LeftOut(folder, text, ""))
        else:
            lines += (LeftOut(each, reason, "") for each in files)
    if len(lines) <= _MAX_FILES_NAMED:
        yield from lines
        return
    top = os.path.commonpath(list(paths))
    files = [each for those in paths.values() for each in those]
    example = os.path.relpath(min(files, key=lambda each: (each.count(os.sep), each)), top)
    where = f" in {len(paths):,} folders" if len(paths) > 1 else ""
    yield LeftOut(top, f"{len(files):,} files{where}, such as `{example}`: {reason}", "")


def _find_below_flat_folders(folders: Iterable[FolderListing]) -> Iterator[LeftOut]:
    """The folders of agents of Gemini CLI that contain folders, which Gemini CLI does not read."""
    counts: Counter[str] = Counter()
    for listing in folders:
        before, flat, _ = os.path.join(listing.path, "").partition(_FLAT)
        if flat and listing.path != before + flat.rstrip(os.sep):
            heads = (
                read_head(os.path.join(listing.path, name), _HEAD)
                for name in listing.files[:_MAX_OPENED]
                if can_be_agent(name)
            )
            counts[before + flat.rstrip(os.sep)] += sum(map(begins_like_agent, heads))
    for folder, count in counts.items():
        if count:
            what = "1 file begins like an agent" if count == 1 else f"{count:,} files begin like agents"
            reason = f"{what} in folders below it, which Gemini CLI does not read; `--from gemini-cli` with this folder does"
            yield LeftOut(folder, reason, "")


def list_files(layout: Layout) -> set[str]:
    """The real paths of the files of a layout."""
    return {
        each.real for each in find_real_files(Root(layout.top, "", areas=layout.areas)) if not each.leaves
    }


def _name_apart(top: str, sources: Iterable[SourceFound]) -> Iterator[SourceFound]:
    """The sources, with names from their places if several of a format have the same name."""
    listed = list(sources)
    times = Counter((each.format, each.name) for each in listed)
    for each in listed:
        if times[each.format, each.name] > 1:
            place = os.path.relpath(each.layout.top, os.path.dirname(top)).replace(os.sep, "-")
            yield each._replace(name=place)
        else:
            yield each
