"""The rules for plans of subtasks, before batches can be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from orgkernel.decisions.ownership.file_kinds import is_env_file, is_migration, is_package_manifest
from orgkernel.decisions.ownership.paths import BadPath, Key, read_file_path
from orgkernel.decisions.work.contracts.findings import ContractFinding
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import Subtask, SubtaskPlan
from orgkernel.graph.structure import find_cycles, find_shortest_cycle

SubtaskKind = Literal["narrow", "broad", "terminal"]


def get_subtask_kind(subtask: Subtask) -> SubtaskKind:
    """The declared kind, or the kind that follows from the files."""
    if subtask.kind is not None:
        return subtask.kind
    return "terminal" if any(map(is_terminal, get_keys(subtask))) else "narrow"


def get_keys(subtask: Subtask) -> tuple[Key, ...]:
    """The files of a subtask in the form that is compared."""
    read = map(read_file_path, subtask.files)
    return tuple(each.key for each in read if not isinstance(each, BadPath))


def is_terminal(key: Key) -> bool:
    """Whether work on a file must come last and alone."""
    return is_package_manifest(key) or is_migration(key)


def find_duplicate_subtasks(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """DUPLICATE_SUBTASK: two subtasks have one id."""
    first = _number_subtasks(plan)
    for number, subtask in enumerate(plan.subtasks):
        if first[subtask.id] != number:
            message = f"subtask {quote(subtask.id)} is declared more than once"
            yield ContractFinding(row.DUPLICATE_SUBTASK, ("subtasks", number, "id"), message)


def find_bad_dependencies(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """UNKNOWN_DEPENDENCY or SELF_DEPENDENCY: a dependency is not valid."""
    known = _number_subtasks(plan)
    for number, subtask in enumerate(plan.subtasks):
        for at, other in enumerate(subtask.depends_on):
            route = ("subtasks", number, "depends_on", at)
            if other == subtask.id:
                message = f"subtask {quote(subtask.id)} depends on itself"
                yield ContractFinding(row.SELF_DEPENDENCY, route, message, "remove the dependency")
            elif other not in known:
                message = f"subtask {quote(subtask.id)} depends on {quote(other)}, which is not a subtask of the plan"
                yield ContractFinding(row.UNKNOWN_DEPENDENCY, route, message, did_you_mean(other, known))


def find_dependency_cycles(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """DEPENDENCY_CYCLE: one finding for each group of subtasks that wait for one another."""
    numbers = _number_subtasks(plan)
    pairs = [
        (subtask.id, other)
        for subtask in plan.subtasks
        for other in subtask.depends_on
        if other in numbers and other != subtask.id
    ]
    for group in find_cycles(pairs):
        cycle = find_shortest_cycle(pairs, group)
        number = numbers[cycle[0]]
        at = plan.subtasks[number].depends_on.index(cycle[1])
        steps = " → ".join(quote(each) for each in (*cycle, cycle[0]))
        message = f"subtask {quote(cycle[0])} waits for itself: {steps}"
        yield ContractFinding(
            row.DEPENDENCY_CYCLE,
            ("subtasks", number, "depends_on", at),
            message,
            "remove one of these dependencies",
        )


def find_subtasks_without_files(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """SUBTASK_WITHOUT_FILES: a narrow subtask lists no files."""
    for number, subtask in enumerate(plan.subtasks):
        if not subtask.files and subtask.kind != "broad":
            message = f"subtask {quote(subtask.id)} lists no files"
            help = "list its files, or write `kind: broad` if they are not known"
            yield ContractFinding(row.SUBTASK_WITHOUT_FILES, ("subtasks", number), message, help)


def find_bad_files(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """INEXACT_FILE_PATH, SUBTASK_KIND_CONTRADICTED or HUMAN_ONLY_FILE: a listed file is not valid."""
    for number, subtask in enumerate(plan.subtasks):
        what = f"subtask {quote(subtask.id)}"
        if subtask.kind == "broad" and subtask.files:
            yield ContractFinding(
                row.SUBTASK_KIND_CONTRADICTED,
                ("subtasks", number, "files"),
                f"{what} is broad, but lists files",
                "remove the files, or write `kind: narrow`",
            )
        for at, file in enumerate(subtask.files):
            route = ("subtasks", number, "files", at)
            read = read_file_path(file)
            if isinstance(read, BadPath):
                message = f"file {quote(file)} of {what} {read.problem}"
                help = "write the path of one file from the root of the project"
                yield ContractFinding(row.INEXACT_FILE_PATH, route, message, help)
            elif is_env_file(read.key):
                message = f"{what} lists {quote(file)}, which only people may change"
                yield ContractFinding(
                    row.HUMAN_ONLY_FILE, route, message, "remove the file, and ask a person"
                )
            elif subtask.kind == "narrow" and is_terminal(read.key):
                file_kind = "a package manifest" if is_package_manifest(read.key) else "a migration"
                message = f"{what} is narrow, but {quote(file)} is {file_kind}"
                help = "write `kind: terminal`, or move the file to a subtask of its own"
                yield ContractFinding(row.SUBTASK_KIND_CONTRADICTED, route, message, help)


def find_work_after_terminal(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """WORK_AFTER_TERMINAL: a subtask depends on a terminal one."""
    terminal = {each.id for each in plan.subtasks if get_subtask_kind(each) == "terminal"}
    for number, subtask in enumerate(plan.subtasks):
        kind = get_subtask_kind(subtask)
        for at, other in enumerate(subtask.depends_on):
            if kind != "terminal" and other in terminal and other != subtask.id:
                message = (
                    f"subtask {quote(subtask.id)} is {kind} and depends on {quote(other)}, which is terminal"
                )
                help = "write `kind: terminal`, or move it to the plan of a later mission"
                yield ContractFinding(
                    row.WORK_AFTER_TERMINAL, ("subtasks", number, "depends_on", at), message, help
                )


def find_needs_without_domain(plan: SubtaskPlan) -> Iterator[ContractFinding]:
    """NEEDS_WITHOUT_DOMAIN: a subtask lists tools, and no role is asked for them."""
    for number, subtask in enumerate(plan.subtasks):
        if subtask.needs and subtask.domain is None:
            message = f"subtask {quote(subtask.id)} needs {quote(subtask.needs[0])}, but states no domain"
            yield ContractFinding(
                row.NEEDS_WITHOUT_DOMAIN, ("subtasks", number, "needs"), message, "write its `domain`"
            )


def _number_subtasks(plan: SubtaskPlan) -> Mapping[str, int]:
    """The number of the first subtask with each id."""
    numbers: dict[str, int] = {}
    for number, subtask in enumerate(plan.subtasks):
        numbers.setdefault(subtask.id, number)
    return numbers
