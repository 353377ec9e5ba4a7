"""Groups of commands. Each command is imported only when it is called, and a wrong name is looked for everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from orgkernel.cli.layout import COMMANDS, GROUPS, HINTS, RENAMED, RENAMED_BELOW
from orgkernel.diagnostics.wording import did_you_mean, quote, suggest
from orgkernel.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandGroup(click.Group):
    """A group of commands: its own, and those in `places`, which are imported only when they are called."""

    group_class = type

    def __init__(self, *args: Any, places: Mapping[str, str] | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.places = places or {}
        """Names of commands, each with its module below `orgkernel.cli` and the name there, as `MODULE:NAME`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.places:
            return _load(self.places[cmd_name])
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            path = _list_group_names(ctx)
            raise UsageError(
                f"there is no command {quote(' '.join([*path, args[0]]))}",
                _find_former_hint([*path, *args]) or _find_hint(args[0], names, path),
            )
        return super().resolve_command(ctx, args)


class TopGroup(CommandGroup):
    """The commands after `orgkernel`, shown in labeled sections."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = _load(entry.place)
        command.short_help = entry.summary
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # only for completion

        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for label, entries in GROUPS.items():
            with formatter.section(label):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in entries.items()])


def refuse_options_before(ctx: click.Context) -> None:
    """Raise `UsageError` for an option of a group that comes before its subcommand, where it would have no effect."""
    for parameter in ctx.command.params:
        source = parameter.name and ctx.get_parameter_source(parameter.name)
        if source is click.core.ParameterSource.COMMANDLINE:
            group, name = ctx.command_path, ctx.invoked_subcommand
            raise UsageError(
                f"`{parameter.opts[0]}` comes before `{name}`", f"write options after it: `{group} {name} …`"
            )


def list_own_commands() -> Mapping[str, Sequence[str]]:
    """The commands after `orgkernel`, each with the names of those below it. All of them are imported."""
    below: dict[str, list[str]] = {}
    for path in _list_command_paths():
        first, *rest = path.split()
        below.setdefault(first, [])
        below[first] += rest[:1] if len(rest) == 1 else []
    return below


def _load(place: str) -> click.Command:
    module, _, name = place.partition(":")
    command: click.Command = getattr(import_module(f"orgkernel.cli.{module}"), name or "command")
    return command


def _list_group_names(ctx: click.Context) -> list[str]:
    """The names of the groups that contain the command, without the name of the program."""
    return [] if ctx.parent is None else [*_list_group_names(ctx.parent), ctx.info_name or ""]


def _find_former_hint(words: list[str]) -> str | None:
    """The replacement of a command that older pages, installed hooks or other programs use; None for any other word."""
    first, below = words[0], " ".join(words[:2])
    if hint := HINTS.get(below) or HINTS.get(first):
        return hint
    if below in RENAMED_BELOW:
        place = RENAMED_BELOW[below]
        whole = [*place.split(), *words[2:3]]
        return f"it is now {_join_commands([' '.join(whole) if _is_command(whole) else place])}"
    if first not in RENAMED:
        return None
    if words[1:]:
        moved = [f"{place} {words[1]}" for place in RENAMED[first]]
        if existing := [each for each in moved if _is_command(each.split())]:
            return f"it is now {_join_commands(existing)}"
    return f"it is part of {_join_commands(RENAMED[first])}"


def _is_command(words: list[str]) -> bool:
    """Whether these words are the path of a command in a group."""
    top = TopGroup("orgkernel")
    ctx = click.Context(top)
    command: click.Command | None = top
    for word in words:
        if not isinstance(command, click.Group) or (command := command.get_command(ctx, word)) is None:
            return False
    return True


def _find_hint(name: str, names: list[str], path: list[str]) -> str:
    """Suggest a command: a similar one in this group, one of the same name elsewhere, or a similar one elsewhere."""
    if hint := did_you_mean(name, names):
        return hint
    places: dict[str, list[str]] = {}
    for command in _list_command_paths():  # which imports all of them
        places.setdefault(command.rpartition(" ")[2], []).append(command)
    if name in places:
        return f"did you mean {_join_commands(places[name])}?"
    if similar := suggest(name, places):
        return f"did you mean {_join_commands(places[similar])}?"
    return f"list all commands with `{' '.join(['orgkernel', *path])} --help`"


def _join_commands(commands: Sequence[str]) -> str:
    return " or ".join(f"`orgkernel {each}`" for each in commands[:5])


def _list_command_paths() -> Iterator[str]:
    """The paths of all commands, with the names of their groups."""

    def walk(group: click.Group, ctx: click.Context, above: str) -> Iterator[str]:
        for name in group.list_commands(ctx):
            command = group.get_command(ctx, name)
            yield f"{above}{name}"
            if isinstance(command, click.Group):
                yield from walk(
                    command, click.Context(command, parent=ctx, info_name=name), f"{above}{name} "
                )

    top = TopGroup("orgkernel")
    yield from walk(top, click.Context(top), "")
